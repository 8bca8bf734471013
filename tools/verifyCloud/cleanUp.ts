import { systemClock } from '../../shared/clock.ts';
import type { Ended } from '../program.ts';
import { type Command, show, type Values } from './action.ts';
import type { Session } from './ports.ts';
import { redact } from './redact.ts';
import { isResolvable, resolveCommand } from './resolve.ts';
import type { Step, Undo } from './step.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 30_000;
const END_OF_OUTPUT = 1_000;

/** How gcloud says that there is nothing to delete. Terraform knows by itself what is gone. */
const isGone = /NOT_FOUND|not found|does not exist|matched no objects|HTTPError 404/i;

/** Returns what takes the steps back, the last step first. */
export function undoSteps(steps: readonly Step[]): readonly Undo[] {
  const undos = steps.toReversed().flatMap(({ undo = [] }) => undo);
  return [...undos.filter(({ isLast }) => isLast !== true), ...undos.filter(({ isLast }) => isLast === true)];
}

/**
 * Takes the steps back, and continues after a failure.
 * @returns the commands that failed, to be repeated by hand
 */
export async function cleanUp(begun: readonly Step[], values: Values, session: Session): Promise<readonly string[]> {
  const undos = undoSteps(begun);
  if (undos.length > 0) session.print('\n== Clean up');
  const left: string[] = [];
  for (const { command, isLast } of undos) {
    // What a command would remove does not exist if the run has never learnt its name.
    if (!isResolvable(command, values)) continue;
    const mayGo = isLast !== true || left.length === 0;
    if (!mayGo || !(await takeBack(command, values, session))) left.push(show(command, values));
  }
  return left;
}

/** Runs a command up to three times: what another resource still uses can often be deleted moments later. */
async function takeBack(command: Command, values: Values, session: Session): Promise<boolean> {
  const { print, clock = systemClock } = session;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    print(show(command, values));
    const { code, stdout, stderr } = await runAlways(command, values, session);
    if (code === 0 || (command.program === 'gcloud' && isGone.test(stderr))) return true;
    print(redact(`${stdout}${stderr}`).trim().slice(-END_OF_OUTPUT));
    if (attempt < ATTEMPTS) await clock.sleep(PAUSE_MS);
  }
  return false;
}

/** Runs a command to its end, whatever happens: a program that cannot be started must not end the clean-up. */
async function runAlways(command: Command, values: Values, { ports }: Session): Promise<Ended> {
  try {
    return await ports.run(resolveCommand(command, values), new AbortController().signal);
  } catch (error) {
    return { code: null, stdout: '', stderr: error instanceof Error ? error.message : String(error) };
  }
}
