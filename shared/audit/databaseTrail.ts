import { HOUR_MS } from '../clock.ts';
import { parseIfJson } from '../json/jsonObject.ts';
import { log } from '../log.ts';
import type { Trail } from '../store/store.ts';
import { type AuditEvent, type AuditTrail, auditEvent } from './auditEvent.ts';

/**
 * Creates the trail of an instance in its database, which commits an event together with its effect.
 * @param retentionMs the age at which events are deleted, now and every hour; by default, events are never deleted
 */
export function createDatabaseTrail(trail: Trail, retentionMs?: number): AuditTrail {
  let isClosed = false;
  let deleting = Promise.resolve();
  const deleteExpired = async (maxAgeMs: number) => {
    const earliest = new Date(Date.now() - maxAgeMs);
    try {
      // Each deletion is a separate task, so that other work can run in between.
      while (!isClosed && (await trail.deleteBefore(earliest)) > 0);
    } catch (error) {
      // An hour later, the next call retries the deletion.
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

/** A stored event, and the cursor from which a later call continues. */
export type ReadEvent = AuditEvent & { readonly cursor: string };

/**
 * Returns a cursor that precedes all events since a moment. If a clock was set back, earlier events may also follow the
 * cursor.
 */
export function cursorBefore(since: Date): string {
  return String(BigInt(since.getTime()) * 1_000n - 1n);
}

/**
 * Yields the events after a cursor, in the order of their commits, up to the newest event at the time of the call.
 * @param onDamaged receives the cursor of each row that does not contain an event
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
