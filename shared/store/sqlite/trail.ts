import { z } from 'zod';
import { auditUnwritable, storeFailed } from '../../errors/storeErrors.ts';
import type { Trail, TrailEvent } from '../store.ts';
import { fromSqliteError, type SqliteConnection, withStoreErrors } from './sqliteConnection.ts';
import type { Writer } from './writer.ts';

/**
 * Creates the table of the audit trail. The position of an event is the greater of two numbers: its time in
 * microseconds, and the newest event's position plus one. Because of the second number, positions follow the order of
 * commits, even if the clocks of processes differ. Because of the first number, after a backup is restored, new events
 * get greater positions than the events that the restore lost.
 */
export const CREATE_TRAIL = 'CREATE TABLE trail (position INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT';

const NEWEST_POSITION = 'SELECT coalesce(max(position), 0) FROM trail';
const INSERT_EVENT = `INSERT INTO trail (position, event) VALUES (max(CAST(? AS INTEGER) * 1000, 1 + (${NEWEST_POSITION})), ?)`;
const EVENTS_PER_STATEMENT = 500;
// Select positions as texts, because they can exceed the integers that JavaScript represents exactly.
const SELECT_EVENTS = `SELECT CAST(position AS TEXT), event FROM trail WHERE position > CAST(? AS INTEGER)
                ORDER BY position LIMIT ${EVENTS_PER_STATEMENT}`;
// Never delete the newest event. The next event could otherwise get the position of a deleted event.
const DELETE_EVENTS = `DELETE FROM trail WHERE position IN
                (SELECT position FROM trail WHERE position < CAST(? AS INTEGER) * 1000 AND position < (${NEWEST_POSITION}) ORDER BY position LIMIT ${EVENTS_PER_STATEMENT})`;

export function insertEvents(connection: SqliteConnection, events: readonly TrailEvent[]): void {
  for (const event of events) connection.prepare(INSERT_EVENT).run(Date.parse(event.time), JSON.stringify(event));
}

const storedRows = z.array(z.tuple([z.string(), z.string()]));
const newestRow = z.tuple([z.string()]);

export function openTrail(reader: SqliteConnection, writer: Writer): Trail {
  return {
    append: (event) =>
      writer
        .apply((connection) => insertEvents(connection, [event]), 'small')
        .catch((reason: unknown) => {
          throw toTrailError(reason);
        }),
    readAfter: (after) =>
      withStoreErrors(() => {
        const rows = storedRows.parse(reader.prepare(SELECT_EVENTS).all(after));
        return rows.map(([cursor, text]) => ({ cursor, text }));
      }),
    newest: () =>
      withStoreErrors(() => newestRow.parse(reader.prepare(`SELECT CAST((${NEWEST_POSITION}) AS TEXT)`).get())[0]),
    async deleteBefore(time) {
      let deleted = 0;
      await writer.apply((connection) => {
        deleted = Number(connection.prepare(DELETE_EVENTS).run(time.getTime()).changes);
      }, 'bulk');
      return deleted;
    },
  };
}

/**
 * Converts the error of a commit that contained audit events. If the database could not write, the caller receives the
 * error about the audit trail, because the events were not recorded.
 */
export function toTrailError(reason: unknown): unknown {
  const converted = fromSqliteError(reason);
  return storeFailed.is(converted) ? auditUnwritable({}, { cause: reason }) : converted;
}
