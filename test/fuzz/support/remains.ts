import { readAuditEvents } from '../../../shared/audit/file/readTrail.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';

/** Everything that is wrong in the database that a server leaves behind. */
export async function databaseFaults(directory: string): Promise<readonly string[]> {
  const store = await openStore({ kind: 'sqlite', directory });
  try {
    return violationsOf(await readDatabase(store));
  } finally {
    await store.close();
  }
}

/** Everything that is wrong in the audit trail that a server leaves behind: each call that has started must have ended. */
export async function auditFaults(directory: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const onDamaged = (path: string) => void faults.push(`${path} has a line that is no event`);
  for await (const { event } of readAuditEvents(directory, new Date(0), onDamaged))
    counts.set(event, (counts.get(event) ?? 0) + 1);
  for (const name of ['export', 'import']) {
    const [started = 0, ended = 0] = [counts.get(`${name}.started`), counts.get(`${name}.finished`)];
    if (started !== ended) faults.push(`${started} × ${name}.started, but ${ended} × ${name}.finished`);
  }
  return faults;
}
