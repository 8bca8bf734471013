import { HOUR_MS } from '../clock.ts';
import { parseIfJson } from '../json/jsonObject.ts';
import { log } from '../log.ts';
import type { Trail } from '../store/store.ts';
import { type AuditEvent, type AuditTrail, auditEvent } from './auditEvent.ts';

/**
 * Creates an audit trail in the database. There, a single commit can contain both a change and the event that records
 * the change.
 * @param retentionMs the trail deletes events that are older, when it is created and then every hour. If undefined, it
 * never deletes events
 */
export function createDatabaseTrail(trail: Trail, retentionMs?: number): AuditTrail {
  let isClosed = false;
  let deleting = Promise.resolve();
  const deleteExpired = async (maxAgeMs: number) => {
    const earliest = new Date(Date.now() - maxAgeMs);
    try {
      // Delete in small steps, each a separate task of the event loop, so that other work can run in between.
      while (!isClosed && (await trail.deleteBefore(earliest)) > 0);
    } catch (error) {
      // Continue after an error, because the timer starts another attempt an hour later.
      log.warn({ stack_trace: error }, 'expired events of the audit trail were not deleted');
    }
  };
  const startDeletion = () => {
    if (retentionMs !== undefined) deleting = deleting.then(() => deleteExpired(retentionMs));
  };
  startDeletion();
  const timer = setInterval(startDeletion, HOUR_MS).unref();
  return {
    append: (event) => trail.append(event),
    join: (event, transaction) => transaction.record(event),
    async close() {
      isClosed = true;
      clearInterval(timer);
      await deleting;
    },
  };
}

/** A stored event and its cursor. Pass this cursor to `readEvents` to continue after this event. */
export type ReadEvent = AuditEvent & { readonly cursor: string };

/**
 * Returns a cursor that precedes all events since the date `since`. If the clock was set back, events from before
 * `since` may also follow the cursor.
 */
export function cursorBefore(since: Date): string {
  return String(BigInt(since.getTime()) * 1_000n - 1n);
}

/**
 * Yields the events after a cursor, in the order of their commits. Ends with the event that was the newest at the
 * start.
 * @param onDamaged receives the cursor of each row that does not contain a valid event
 */
export function* readEvents(trail: Trail, after: string, onDamaged: (cursor: string) => void): Generator<ReadEvent> {
  const newest = BigInt(trail.newest());
  let last: string | undefined = after;
  while (last !== undefined && BigInt(last) < newest) {
    const stored = trail.readAfter(last);
    for (const { cursor, text } of stored) {
      const { success, data } = auditEvent.safeParse(parseIfJson(text));
      if (success) yield { ...data, cursor };
      else onDamaged(cursor);
    }
    last = stored.at(-1)?.cursor;
  }
}
