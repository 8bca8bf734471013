// Some records to delete are referenced by other records, which ZITADEL would then delete or change. This file finds
// these references.

import { because } from '../../../shared/errors/recordIssues.ts';
import { ofUsers } from '../../../shared/exportFile/mirroredContent.ts';
import { type JsonObject, parseObject, putAt } from '../../../shared/json/jsonObject.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import { describeContent } from '../../../shared/organisation/describedRecord.ts';
import { type KeyedRecord, planReferences } from '../../../shared/organisation/recordPlan.ts';
import type { Reference } from '../../../shared/organisation/relations.ts';
import { foreignSections } from '../../../shared/organisation/requiredRecords.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { RunDatabase } from '../../records/runDatabase.ts';
import type { ImportLedger, LedgerIssue } from '../import/ledger.ts';
import { creationEvent, eventPrefix } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readEvents, type ZitadelEvent } from '../zitadelEvents.ts';
import { type DoomedRecord, type DoomedRecords, doomedPath } from './doomedRecords.ts';

export interface KeptRecord {
  readonly record: Pick<DoomedRecord, 'section' | 'id'>;
  readonly issue: LedgerIssue;
}

interface Searched {
  readonly database: RunDatabase;
  readonly ledger: ImportLedger;
  readonly doomed: DoomedRecords;
  readonly orgIds: ReadonlySet<string>;
  readonly existing: { has(orgId: string): boolean };
}

/**
 * Finds those records to delete to which another record refers. The other record is in the file, or remains in ZITADEL.
 * Ignores references in a list of a record that both the file and ZITADEL have, such as the roles of a grant. ZITADEL
 * only removes such references from the list.
 */
export async function findReferred(connection: ZitadelConnection, searched: Searched): Promise<readonly KeptRecord[]> {
  const kept = new Map<string, KeptRecord>();
  const keep = (target: DoomedRecord, { section, json, orgId }: KeyedRecord) => {
    const { type, id } = describeContent(section, json, orgId);
    const params = { referrer: `${type} ${id}`, organisation: orgId };
    kept.set(target.path, { record: target, issue: because('deletion_referenced', params) });
  };
  for (const target of searched.doomed.values()) {
    const referring = searched.ledger.firstReferring(target.path);
    if (referring !== undefined) keep(target, referring.record);
  }
  await searchExported(connection, searched, keep);
  await searchEvents(connection, searched, keep);
  return [...kept.values()];
}

type Keep = (target: DoomedRecord, referrer: KeyedRecord) => void;

/**
 * Searches the exported records. Leaves out keys, because ZITADEL deletes the keys of a user together with the user.
 */
async function searchExported(
  { signal }: ZitadelConnection,
  { database, doomed }: Searched,
  keep: Keep,
): Promise<void> {
  for await (const { section: name, orgId, first, second } of database.secondRecords(signal)) {
    const section = recordSection(name);
    if (section.references === undefined || section.keys === true) continue;
    const record = { section, orgId, json: parseObject(second.body) };
    const targets = targetsOf(record, doomed);
    if (targets.length === 0 || doomed.has(doomedPath(record))) continue;
    for (const { target, reference } of targets) if (first === undefined || !isOfList(reference)) keep(target, record);
  }
}

/**
 * Searches the grants and memberships of all organisations, because exports may lack some of them. Reads events,
 * because only events show the latest changes.
 */
async function searchEvents(
  connection: ZitadelConnection,
  { doomed, orgIds, existing }: Searched,
  keep: Keep,
): Promise<void> {
  const targeted = new Set([...doomed.values()].map(({ section }) => section.collection));
  for (const section of foreignSections) {
    if (!ofUsers.has(section.collection)) continue;
    if (section.references?.some(({ collection }) => targeted.has(collection)) !== true) continue;
    for (const record of await readLive(connection, section)) {
      if (!existing.has(record.orgId) || doomed.has(doomedPath(record))) continue;
      const isOther = !orgIds.has(record.orgId);
      for (const { target, reference } of targetsOf(record, doomed))
        if (isOther || !isOfList(reference)) keep(target, record);
    }
  }
}

function targetsOf(record: KeyedRecord, doomed: DoomedRecords) {
  return planReferences(record).flatMap(({ reference, key }) => {
    const target = doomed.get(documentPath(key));
    return target === undefined ? [] : [{ target, reference }];
  });
}

/**
 * True if a reference is an element of a list. If ZITADEL deletes the referenced record, it removes only this element
 * from the list.
 */
export function isOfList({ key }: Reference): boolean {
  return key.some((path) => path.includes('['));
}

/** Finds records of all organisations of the instance. The records' content comes from events. */
async function readLive(connection: ZitadelConnection, section: Section): Promise<readonly KeyedRecord[]> {
  const created = creationEvent(section.name);
  if (created === undefined) return [];
  const { aggregateType, aggregateId: path, fields = {}, type } = created;
  const prefix = eventPrefix(created);
  const ends = ['changed', 'cascade.changed', 'removed', 'cascade.removed'].map((end) => `${prefix}${end}`);
  const parents = aggregateType === 'project' ? ['project.removed', 'project.grant.removed'] : [];
  const live = new Map<string, KeyedRecord>();
  const keyOf = ({ aggregateId, payload }: ZitadelEvent) =>
    JSON.stringify([aggregateId, ...(path === undefined ? [] : Object.keys(fields).map((field) => payload[field]))]);
  const query = { aggregateTypes: [aggregateType], eventTypes: [type, ...ends, ...parents] };
  for await (const page of readEvents(connection, query))
    for (const event of page) {
      const { aggregateId, owner, payload } = event;
      const key = keyOf(event);
      const record = live.get(key);
      if (event.type === type) {
        const { grantId } = payload;
        const json: JsonObject = { ...payload, projectGrantId: grantId };
        if (path !== undefined) putAt(json, path, path === '$orgId' ? owner : aggregateId);
        for (const [field, name] of Object.entries(fields)) putAt(json, name, payload[field]);
        live.set(key, { section, json, orgId: owner });
      } else if (event.type.endsWith('.changed') && record !== undefined)
        live.set(key, { ...record, json: { ...record.json, roleKeys: payload.roleKeys } });
      else if (parents.includes(event.type))
        for (const [liveKey, { json }] of live) {
          const isOfGrant = event.type === 'project.removed' || json.grantId === payload.grantId;
          if (json.projectId === aggregateId && isOfGrant) live.delete(liveKey);
        }
      else if (event.type.endsWith('removed')) live.delete(key);
    }
  return [...live.values()];
}
