import { documentId } from '../store/documentId.ts';
import type { DocumentKey } from '../store/store.ts';
import { textsAt } from './jsonRecord.ts';
import type { OrganisationRecord } from './record.ts';
import type { Reference } from './section.ts';

/** Where a record's reference leads to. */
export interface PlannedReference {
  readonly reference: Reference;
  readonly key: DocumentKey;
}

/** The references of a record, those of lists one by one. */
export function referencesOf({ section, json, orgId }: OrganisationRecord): PlannedReference[] {
  return (section.references ?? []).flatMap((reference) =>
    keysOf(reference, (path) => textsAt(json, path, orgId))
      .filter((parts) => reference.optional !== true || parts.at(-1) !== '')
      .map((parts) => ({ reference, key: { collection: reference.collection, id: documentId(...parts) } })),
  );
}

/** The keys that a reference's paths lead to: one, or one for each element of the list that one of them leads through. */
function keysOf({ key }: Reference, textsOf: (path: string) => readonly string[]): string[][] {
  let keys: string[][] = [[]];
  for (const path of key) {
    const texts = textsOf(path);
    keys = keys.flatMap((parts) => texts.map((text) => [...parts, text]));
  }
  return keys;
}
