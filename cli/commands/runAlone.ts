// Commands that take something away: they hold the lock of the instance alone.

import type { Writable } from 'node:stream';
import { systemAccount } from '../../shared/audit/openAudit.ts';
import { withLock } from '../../shared/store/lock/fence.ts';
import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import type { Store } from '../../shared/store/store.ts';
import { waitText } from '../terminal/progress.ts';

/** A call of a command. */
interface Call {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly stderr: Writable;
}

/** Does a command's work while no import and no other such command writes. Prints which operation it waits for. */
export function runAlone<Result>(
  operation: string,
  { store, signal, stderr }: Call,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const onWait = (holder: LockHolder) => void stderr.write(`${waitText(holder)}\n`);
  return withLock(store, { mode: 'alone', operation, caller: systemAccount(), signal, onWait }, work);
}
