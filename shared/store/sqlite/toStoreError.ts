import { z } from 'zod';
import { storeFailed, storeUnavailable } from '../../errors/errors.ts';

const sqliteError = z.object({ code: z.literal('ERR_SQLITE_ERROR'), errcode: z.number(), errstr: z.string() });

const BUSY = 5;
const LOCKED = 6;

/** Whether `reason` says that another connection holds a lock. */
export function isBusy(reason: unknown): boolean {
  const { success, data } = sqliteError.safeParse(reason);
  // The low byte is the error, the others say more about it.
  return success && [BUSY, LOCKED].includes(data.errcode & 0xff);
}

/** An error of SQLite as one that can be shown; anything else as it is. */
export function toStoreError(reason: unknown): unknown {
  if (isBusy(reason)) return storeUnavailable(reason);
  const { success, data } = sqliteError.safeParse(reason);
  return success ? storeFailed(data.errstr, reason) : reason;
}
