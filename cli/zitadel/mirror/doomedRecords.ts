// Finds the records of ZITADEL that a mirroring import deletes, because the file does not contain them.

import { isDeepStrictEqual } from 'node:util';
import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import { isOfUser, mirroredSections, usersLeftOut } from '../../../shared/exportFile/mirroredContent.ts';
import { parseObject, putAt } from '../../../shared/json/jsonObject.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import type { FieldDifference } from '../../../shared/organisation/equality.ts';
import { type KeyedRecord, planReferences, recordKey } from '../../../shared/organisation/recordPlan.ts';
import { type DocumentKey, documentId, documentPath } from '../../../shared/store/store.ts';
import type { RunDatabase } from '../../records/runDatabase.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';
import { recordKinds } from '../recordKinds.ts';

/** A record to delete. */
export interface DoomedRecord extends KeyedRecord {
  readonly id: string;
  readonly path: string;
}

/** The records to delete, by their paths. */
export type DoomedRecords = ReadonlyMap<string, DoomedRecord>;

/**
 * Returns the records that the file's organisations have in ZITADEL and that the file does not contain. Searches only
 * the sections that the file contains completely. Omits records that ZITADEL itself adds.
 */
export async function findDoomed(
  database: RunDatabase,
  zitadel: ZitadelSide,
  inspection: Pick<Inspection, 'manifest'>,
  settings: { readonly withKeys: boolean },
  signal: AbortSignal,
): Promise<DoomedRecords> {
  const mirrored = mirroredSections({ inspection, settings });
  const leftOut = usersLeftOut(inspection);
  const doomed = new Map<string, DoomedRecord>();
  for await (const { section: name, orgId, id, first, second } of database.secondRecords(signal)) {
    const section = recordSection(name);
    if (first !== undefined || !mirrored.has(section) || recordKinds[section.name].remove === 'never') continue;
    const { body } = second;
    if (isOfUser(section, { orgId, body }, leftOut)) continue;
    if (zitadelReason({ outcome: 'onlySecond', section: name, orgId, id }, zitadel) !== undefined) continue;
    const record = { section, orgId, json: parseObject(body) };
    const path = doomedPath(record);
    doomed.set(path, { ...record, id, path });
  }
  return doomed;
}

/** Returns the path of a record without the part of its key that comparisons omit, such as a project grant. */
export function doomedPath({ section, json, orgId }: KeyedRecord): string {
  const { field } = section.completed ?? {};
  const kept = field === undefined ? json : { ...json, [field]: undefined };
  return documentPath(recordKey({ section, json: kept, orgId }));
}

/**
 * Whether a record differs from the file's record only by list elements that refer to records to delete, such as roles
 * of a grant. ZITADEL removes these elements together with the deleted records.
 */
export function differsByDoomed(
  { section, json, orgId }: KeyedRecord,
  difference: FieldDifference,
  doomed: DoomedRecords,
): boolean {
  if (doomed.size === 0 || 'secret' in difference || !Array.isArray(difference.second)) return false;
  const { path, first = [], second } = difference;
  const lists = (section.references ?? []).filter(({ key }) => key.at(-1)?.startsWith(`${path}[`));
  const isKept = (element: unknown) => {
    const single = structuredClone(json);
    putAt(single, path, [element]);
    const referenced = planReferences({ section, json: single, orgId }).filter(({ reference }) =>
      lists.includes(reference),
    );
    // Compared records do not contain the owner types of providers, so references to providers need a separate search.
    const providers = section.exported?.providers?.(single) ?? [];
    const keys = [...referenced.map(({ key }) => key), ...providers.map(providerKey)];
    return !keys.some((key) => doomed.has(documentPath(key)));
  };
  return lists.length > 0 && isDeepStrictEqual(second.filter(isKept), first);
}

function providerKey(id: string): DocumentKey {
  return { collection: 'identityProviders', id: documentId(id) };
}
