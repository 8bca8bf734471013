import type { Writable } from 'node:stream';
import { systemAccount } from '../../shared/audit/openAudit.ts';
import { commandInterrupted } from '../../shared/errors/commandErrors.ts';
import { withLock } from '../../shared/store/lock/fence.ts';
import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import type { Store } from '../../shared/store/store.ts';
import { NOTHING_CHANGED } from '../terminal/command.ts';
import { progressLines, trackPhase } from '../terminal/progress.ts';

interface Call {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly stderr: Writable;
}

/**
 * The work of a command. `phase` is the name of the work in the progress output; `interruption` is the message if the
 * work is interrupted.
 */
interface Operation {
  readonly name: string;
  readonly phase: string;
  readonly interruption: string;
}

/** Called with the number of records that were processed since the last call. */
type OnDone = (records: number) => void;

/**
 * Locks the instance, and then does a command's work. During the work, imports and other commands that lock the
 * instance wait. Prints the progress. While another operation holds the lock, prints the name of that operation.
 * @param work receives a signal that aborts if the call is interrupted or loses the instance's lock
 * @throws IdentityError COMMAND_INTERRUPTED for any error after the call's signal has aborted. If the work has not
 * begun, the message states that nothing changed
 */
export async function runAlone<Result>(
  { name, phase, interruption }: Operation,
  { store, signal, stderr }: Call,
  work: (store: Store, onDone: OnDone, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false;
  const onWait = (holder: LockHolder) => progressLines(stderr).wait(holder);
  const request = { mode: 'alone', operation: name, caller: systemAccount(), signal, onWait } as const;
  try {
    return await withLock(store, request, (locked, whileHeld) => {
      hasBegun = true;
      return tracked(phase, stderr, (onDone) => work(locked, onDone, whileHeld));
    });
  } catch (error) {
    throw signal.aborted ? commandInterrupted({ interruption: hasBegun ? interruption : NOTHING_CHANGED }) : error;
  }
}

/** Shows the progress as soon as the first record is processed. */
async function tracked<Result>(
  phase: string,
  stderr: Writable,
  work: (onDone: OnDone) => Promise<Result>,
): Promise<Result> {
  let records = 0;
  const begun = Promise.withResolvers<undefined>();
  const working = work((done) => {
    records += done;
    begun.resolve(undefined);
  });
  await Promise.race([begun.promise, working]);
  return records === 0 ? working : trackPhase(progressLines(stderr), phase, { records: () => records }, () => working);
}
