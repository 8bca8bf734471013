import { setTimeout } from 'node:timers/promises';
import { collections, type DocumentKey, type Store } from '../../../shared/store/store.ts';
import type { Contents } from '../../support/stores/database.ts';

/** Returns a random record that is still missing; undefined if all exist. */
export function anyMissing(all: Contents, present: Contents, random: () => number): DocumentKey | undefined {
  const missing = [...all.keys()].filter((name) => !present.has(name));
  return missing.length === 0 ? undefined : keyOf(missing[Math.floor(random() * missing.length)] ?? '');
}

/** Resolves when a document exists in the database, or when `signal` aborts. */
export async function arrival(store: Store, key: DocumentKey, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [found] = await store.getMany([key], []);
    if (found !== undefined) return;
    await setTimeout(1);
  }
}

function keyOf(name: string): DocumentKey {
  const slash = name.indexOf('/');
  const collection = collections.find((one) => one === name.slice(0, slash));
  if (collection === undefined) throw new Error(`${name} is in no collection`);
  return { collection, id: name.slice(slash + 1) };
}
