import { show, type Values } from './action.ts';
import { undoSteps } from './cleanUp.ts';
import { statements, unsettled } from './statements.ts';
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
  const open = Object.entries(unsettled).map(([name, why = '']) => `   ${describeStatement(name)}: ${why}`);
  return [...lines, '== Clean up, always', ...cleaning, '', '== Not settled by a run', ...open, ''].join('\n');
}

function describeStatement(statement: string): string {
  const [text = 'the configuration applies, and works'] =
    Object.entries(statements).find(([name]) => name === statement)?.[1] ?? [];
  return text;
}
