// Commands that take something away: they hold the lock of the instance alone.

import type { Writable } from 'node:stream';
import { systemAccount } from '../../shared/audit/openAudit.ts';
import { withLock } from '../../shared/store/lock/fence.ts';
import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import type { Store } from '../../shared/store/store.ts';
import { InterruptedError, NOTHING_CHANGED } from '../terminal/command.ts';
import { waitText } from '../terminal/progress.ts';

/** A call of a command. */
interface Call {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly stderr: Writable;
}

/** An operation that runs alone, and the message of its interruption. */
interface Operation {
  readonly name: string;
  readonly interruption: string;
}

/**
 * Does a command's work while no import and no other such command writes. Prints which operation it waits for.
 * @throws InterruptedError for any error after the call's signal has aborted; while the command waits, nothing is changed
 */
export async function runAlone<Result>(
  { name, interruption }: Operation,
  { store, signal, stderr }: Call,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false;
  const onWait = (holder: LockHolder) => void stderr.write(`${waitText(holder)}\n`);
  const request = { mode: 'alone', operation: name, caller: systemAccount(), signal, onWait } as const;
  try {
    return await withLock(store, request, (locked) => {
      hasBegun = true;
      return work(locked);
    });
  } catch (error) {
    throw signal.aborted ? new InterruptedError(hasBegun ? interruption : NOTHING_CHANGED) : error;
  }
}
