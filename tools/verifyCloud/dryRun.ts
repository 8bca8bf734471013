import { show, type Values } from './action.ts';
import { undoSteps } from './cleanUp.ts';
import { describeStatement, openStatements } from './statements.ts';
import type { Step } from './step.ts';

/** Describes a run: each step with its commands and what it settles, and how it is taken back. */
export function describeRun(steps: readonly Step[], values: Values): string {
  const lines = steps.flatMap(({ title, settles, actions, isOptional }) => [
    `== ${title}${isOptional ? ' (takes an hour)' : ''}`,
    ...settles.map((name) => `   settles: ${describeStatement(name)}`),
    ...actions.map((action) => show(action, values)),
    '',
  ]);
  const cleaning = undoSteps(steps).map(({ command }) => show(command, values));
  const open = openStatements(steps.flatMap(({ settles }) => settles)).map(([text, why]) => `   ${text}: ${why}`);
  return [...lines, '== Clean up, always', ...cleaning, '', '== Not settled by a run', ...open, ''].join('\n');
}
