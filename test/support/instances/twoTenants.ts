import { cp } from 'node:fs/promises';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { documentPath, type Store } from '../../../shared/store/store.ts';
import { everySection } from '../fixtures/everySection.ts';
import { organisation } from '../fixtures/organisations.ts';
import { readDatabase } from '../stores/database.ts';
import { openTestStore, sqlite } from '../stores/stores.ts';
import { type Report, servedInstance } from './testInstance.ts';

/** The organisation that must not change, and the organisation of the import. Each has records of every section. */
export const victim = everySection('victim', ['attacker', 'third']);
export const attacker = everySection('attacker', ['victim', 'third']);

/** Fills a database with both organisations, and returns a function that opens a new copy of it. */
export async function prepareTwoTenants() {
  const location = await sqlite.newLocation();
  const store = await openStore(location);
  const owner = await initialise(store, { name: 'test' }, DAY_MS, new Date());
  const orgs = [organisation('third'), victim, attacker];
  const { errors } = await servedInstance(store, owner).import({ data_orgs: { orgs }, with_keys: true });
  await store.close();
  if (errors !== undefined) throw new Error(`the organisations were not imported: ${JSON.stringify(errors)}`);
  return async () => {
    const copy = await sqlite.newLocation();
    if (location.kind !== 'sqlite' || copy.kind !== 'sqlite') throw new Error('no embedded database');
    await cp(location.directory, copy.directory, { recursive: true });
    const opened = await openTestStore(sqlite, copy);
    return { store: opened, instance: servedInstance(opened, owner) };
  };
}

/** Returns all records of the victim in a database, by path, with the claims of their names. */
export async function victimDocuments(store: Store): Promise<ReadonlyMap<string, unknown>> {
  const documents = [...(await readDatabase(store))].flatMap(([collection, all]) =>
    all.flatMap((one) =>
      one.orgId === victim.orgId ? [[documentPath({ collection, id: one.id }), one] as const] : [],
    ),
  );
  return new Map(documents);
}

/** Returns the sections of an import's records with an outcome, such as `created`. */
export function sectionsWith({ summary }: Report, outcome: string): string[] {
  const counts = summary[outcome];
  return isJsonObject(counts) ? Object.keys(counts) : [];
}
