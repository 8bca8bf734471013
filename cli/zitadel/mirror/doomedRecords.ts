// Finds the records that a mirroring import deletes in ZITADEL because the file does not contain them ("doomed"
// records).

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

export interface DoomedRecord extends KeyedRecord {
  readonly id: string;
  readonly path: string;
}

/** The keys are the paths of the records. */
export type DoomedRecords = ReadonlyMap<string, DoomedRecord>;

/**
 * Finds the doomed records. Searches only those sections of which the file contains all records. Leaves out records
 * that ZITADEL itself adds.
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

/** Returns the path of a record. Leaves out the part of its key that comparisons ignore, such as a project grant. */
export function doomedPath({ section, json, orgId }: KeyedRecord): string {
  const { field } = section.completed ?? {};
  const kept = field === undefined ? json : { ...json, [field]: undefined };
  return documentPath(recordKey({ section, json: kept, orgId }));
}

/**
 * Whether a field of ZITADEL's record differs only because its list contains references to doomed records, such as
 * roles of a grant. When ZITADEL deletes these records, it removes the references from the list.
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
    // The compared content does not contain the owner type of identity providers. So `planReferences` does not find the
    // references to providers.
    const providers = section.exported?.providers?.(single) ?? [];
    const keys = [...referenced.map(({ key }) => key), ...providers.map(providerKey)];
    return !keys.some((key) => doomed.has(documentPath(key)));
  };
  return lists.length > 0 && isDeepStrictEqual(second.filter(isKept), first);
}

function providerKey(id: string): DocumentKey {
  return { collection: 'identityProviders', id: documentId(id) };
}
