import { migrationStopped } from '../../shared/errors/migrationErrors.ts';
import { type Call, InterruptedError, UsageError } from '../command.ts';
import { describeFault } from '../faults.ts';
import { progressOutput } from '../places/callOptions.ts';
import { Journal } from './journal.ts';
import { MigrationRun } from './run.ts';
import { lockRunDirectory } from './runLock.ts';
import { removeExport } from './stageExport.ts';
import { type MigrationState, readState } from './state.ts';

/**
 * Works on a migration in its run directory, alone.
 * @param work may change the state, which is read when the directory is locked
 * @throws InterruptedError, or IdentityError, with the command that goes on; IdentityError ABORTED while another process
 * works on it
 */
export async function workAlone<Result>(
  call: Call,
  directory: string,
  event: 'started' | 'resumed',
  work: (run: MigrationRun) => Promise<Result>,
): Promise<Result> {
  using _lock = await lockRunDirectory(directory);
  using journal = new Journal(directory);
  journal.add({ event });
  const shown = { output: progressOutput(call), signal: call.signal };
  const run = new MigrationRun(directory, await readState(directory), journal, shown);
  try {
    return await work(run);
  } catch (error) {
    // Until somebody agrees, the export and its secrets wait for nobody.
    if (run.state.consentedAt === undefined) await removeExport(directory);
    if (error instanceof UsageError) throw error;
    if (call.signal.aborted || error instanceof InterruptedError) {
      journal.add({ event: 'failed', problem: 'interrupted' });
      throw new InterruptedError(`interrupted: ${leftBehind(run.state)}; go on with ${resumeCommand(directory)}`);
    }
    const { message } = describeFault(error);
    journal.add({ event: 'failed', problem: message });
    const problem = message.replace(/: repeat the command$/, '');
    throw migrationStopped(problem, resumeCommand(directory));
  }
}

/** Returns the command that goes on with a migration. */
export function resumeCommand(directory: string): string {
  return `identity migrate resume --run-dir ${directory}`;
}

function leftBehind({ consentedAt, moved, settings }: MigrationState): string {
  if (moved !== undefined) return `everything is in ${settings.to}, and not yet proved`;
  return consentedAt === undefined ? 'nothing is changed' : `what has reached ${settings.to} so far stays`;
}
