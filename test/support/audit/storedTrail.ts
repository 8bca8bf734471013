import { DatabaseSync } from 'node:sqlite';
import { type ReadEvent, readEvents } from '../../../shared/audit/databaseTrail.ts';
import { databaseFile, openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';

/** Returns all events in the trail of an open database, in the order of commits. */
export function eventsOf({ trail }: Store, after = '0'): readonly ReadEvent[] {
  if (trail === undefined) throw new Error('the database has no trail');
  const onDamaged = (cursor: string) => {
    throw new Error(`event ${cursor} is damaged`);
  };
  return [...readEvents(trail, after, onDamaged)];
}

/** Returns all events in the trail of an embedded database. */
export async function eventsIn(directory: string): Promise<readonly ReadEvent[]> {
  const store = await openStore({ kind: 'sqlite', directory });
  try {
    return eventsOf(store);
  } finally {
    await store.close();
  }
}

/** Changes the trail of an embedded database in a way that this service does not support. */
export function changeTrail(directory: string, sql: string): void {
  using database = new DatabaseSync(databaseFile(directory));
  database.exec(sql);
}

/** Makes the database fail for each further event. */
export function breakTrail(directory: string): void {
  changeTrail(directory, "CREATE TRIGGER full BEFORE INSERT ON trail BEGIN SELECT RAISE(ABORT, 'no space'); END");
}
