// Finds records of a file that were deleted in ZITADEL, so that a mirroring import does not create them again by
// mistake.

import { defined } from '../../../shared/defined.ts';
import { recordNoun } from '../../../shared/errors/nouns.ts';
import { zitadelMirrorDeleted } from '../../../shared/errors/placeErrors.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { planReferences } from '../../../shared/organisation/recordPlan.ts';
import type { SectionName } from '../../../shared/organisation/sections/section.ts';
import { documentId, documentPath } from '../../../shared/store/store.ts';
import { recordName } from '../../records/comparedRecord.ts';
import { named } from '../../terminal/numberTexts.ts';
import { eventIdentity, findCreations, identifyingValue } from '../import/creations.ts';
import { eventParams } from '../import/evidence.ts';
import type { ImportLedger, LedgerRecord } from '../import/ledger.ts';
import { type CreationEvent, creationEvent, recordKinds, removalEvents } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readEvents, type ZitadelEvent } from '../zitadelEvents.ts';
import { isOfList } from './referrers.ts';

interface CreatedRecords {
  readonly ledger: ImportLedger;
  /** The organisations of the file that exist in ZITADEL, and in which the import must not undo deletions. */
  readonly orgIds: ReadonlySet<string>;
  /** The id of the token's user, whose earlier mirroring imports may have deleted records. */
  readonly callerId: string;
  /** The time at which the source was read for the file, as an ISO 8601 date. */
  readonly readTime: string;
}

/** `removal` is the event that deleted the record itself or a parent of the record. */
interface DeletedRecord {
  readonly record: LedgerRecord;
  readonly removal: ZitadelEvent;
}

/**
 * A record of the file that may have been deleted in ZITADEL, either itself or together with a parent. `own` is the
 * last deletion of the record itself. `parent` is the last deletion of one of its parents.
 */
interface RemovedRecord {
  readonly record: LedgerRecord;
  readonly own: ZitadelEvent | undefined;
  readonly parent: ZitadelEvent | undefined;
}

/** For each deleted record, the last event that has removed it. */
interface Removals {
  /** The last deletions in the organisations of the file. The keys are those that `eventKey` returns. */
  readonly own: ReadonlyMap<string, ZitadelEvent>;
  /**
   * The last deletions of records that have ids of their own. The keys are the paths of the records. Such a record can
   * be the parent of other records, even in other organisations.
   */
  readonly parents: ReadonlyMap<string, ZitadelEvent>;
}

const MAX_NAMED = 20;

/**
 * Rejects an import that would create records again although they were deleted on purpose. A deletion counts as made on
 * purpose if another user made it, or if the token's user made it after the source was read.
 * @throws IdentityError ZITADEL_MIRROR_DELETED if the import would create such a record again
 */
export async function requireNotDeleted(connection: ZitadelConnection, created: CreatedRecords): Promise<void> {
  const deleted = await findDeleted(connection, created);
  const [first] = deleted;
  if (first === undefined) return;
  const { orgId } = first.record.record;
  const ofFirst = deleted.filter(({ record }) => record.record.orgId === orgId);
  const others = [...new Set(deleted.map(({ record }) => record.record.orgId))].filter((other) => other !== orgId);
  throw zitadelMirrorDeleted({
    orgId,
    records: ofFirst.slice(0, MAX_NAMED).map(deletionText),
    omitted: ofFirst.length > MAX_NAMED ? ofFirst.length - MAX_NAMED : undefined,
    others: others.length === 0 ? undefined : others.slice(0, MAX_NAMED),
  });
}

function deletionText({ record: { id, record }, removal }: DeletedRecord): string {
  const { user, time } = eventParams(removal);
  return `${recordNoun(record.section.name)} ${named(id, recordName(record))} (by user ${user} at ${time})`;
}

async function findDeleted(connection: ZitadelConnection, created: CreatedRecords): Promise<readonly DeletedRecord[]> {
  const { ledger, orgIds } = created;
  const removals = await readRemovals(connection, created);
  if (removals.parents.size === 0 && removals.own.size === 0) return [];
  const candidates: RemovedRecord[] = [];
  for await (const record of ledger.records(connection.signal)) {
    if (!isToCreate(record)) continue;
    const own = latest(recordKeys(record).map((key) => removals.own.get(key)));
    const parents = orgIds.has(record.record.orgId) ? parentPaths(record) : [];
    const parent = latest(parents.map((path) => removals.parents.get(path)));
    if (own !== undefined || parent !== undefined) candidates.push({ record, own, parent });
  }
  return await withoutRecreated(connection, candidates);
}

function latest(events: readonly (ZitadelEvent | undefined)[]): ZitadelEvent | undefined {
  return events
    .filter((event) => event !== undefined)
    .toSorted((a, b) => Number(a.createdAt - b.createdAt))
    .at(-1);
}

/**
 * True if the import will create a record. True as well for a record that the import cannot create only because ZITADEL
 * does not accept its id a second time.
 */
function isToCreate({ isHeld, outcome, found, issues }: LedgerRecord): boolean {
  const isUsed = issues.some(({ reason }) => reason === 'id_used');
  return !isHeld && (isUsed || (outcome === null && found === 'missing'));
}

/**
 * Leaves out records that were created again after their deletion. If a record existed when its parent was deleted, the
 * record was deleted too, and stays deleted even if the parent was created again.
 */
async function withoutRecreated(
  connection: ZitadelConnection,
  candidates: readonly RemovedRecord[],
): Promise<readonly DeletedRecord[]> {
  const removals = new Map<number, ZitadelEvent>();
  for (const [owner, ofOwner] of Map.groupBy(candidates, ownerOfEvents)) {
    const sent = ofOwner.map(({ record: { position, record } }) => ({
      position,
      section: record.section.name,
      orgId: record.orgId,
      json: record.json,
    }));
    const search = { callerId: undefined, after: undefined, ...defined({ owner }), isNewest: true };
    const creations = await findCreations(connection, sent, search);
    for (const { record, own, parent } of ofOwner) {
      const creation = creations.get(record.position);
      const events = [own, creation === undefined ? undefined : parent];
      const removal = latest(
        events.filter((event) => event !== undefined && event.createdAt >= (creation?.createdAt ?? 0n)),
      );
      if (removal !== undefined) removals.set(record.position, removal);
    }
  }
  return candidates.flatMap(({ record }) => {
    const removal = removals.get(record.position);
    return removal === undefined ? [] : [{ record, removal }];
  });
}

/**
 * Returns the id of the organisation to which the record's events belong. Returns undefined if they can belong to any
 * organisation.
 */
function ownerOfEvents({ record: { record } }: RemovedRecord): string | undefined {
  return creationEvent(record.section.name)?.isShared === true ? undefined : record.orgId;
}

/**
 * Reads the events that removed records. Ignores deletions that the token's user made before the source was read. If
 * the file contains such a record, the record was created in the source again after the deletion.
 */
async function readRemovals(
  connection: ZitadelConnection,
  { orgIds, callerId, readTime }: CreatedRecords,
): Promise<Removals> {
  const [own, parents] = [new Map<string, ZitadelEvent>(), new Map<string, ZitadelEvent>()];
  if (orgIds.size === 0) return { own, parents };
  const query = {
    aggregateTypes: [...new Set(kinds.map(({ created }) => created.aggregateType))],
    eventTypes: [...new Set(kinds.flatMap(({ removed }) => removed))],
  };
  for await (const page of readEvents(connection, query))
    for (const event of page) {
      if (event.editorId === callerId && !isLater(event, readTime)) continue;
      for (const { section, created, removed } of kinds) {
        if (!removed.includes(event.type) || !isRemoval(created, event)) continue;
        const path = removedPath(section, event);
        if (path !== undefined) setLatest(parents, path, event);
        if (orgIds.has(event.owner)) setLatest(own, eventKey(section, created, event), event);
      }
    }
  return { own, parents };
}

function setLatest(events: Map<string, ZitadelEvent>, key: string, event: ZitadelEvent): void {
  events.set(key, latest([events.get(key), event]) ?? event);
}

function isLater({ createdAt }: ZitadelEvent, readTime: string): boolean {
  return Number(createdAt / 1_000n) > Date.parse(readTime);
}

interface RemovableKind {
  readonly section: SectionName;
  readonly created: CreationEvent;
  readonly removed: readonly string[];
}

const kinds: readonly RemovableKind[] = recordSections.flatMap(({ name }) => {
  const created = creationEvent(name);
  if (created === undefined || recordKinds[name].remove === 'never') return [];
  return [{ section: name, created, removed: removalEvents(name) }];
});

function isRemoval({ type, list = '' }: CreationEvent, event: ZitadelEvent): boolean {
  const elements = event.payload[list];
  return event.type !== type || !Array.isArray(elements) || elements.length === 0;
}

function eventKey(
  section: SectionName,
  { aggregateId, fields = {}, isShared }: CreationEvent,
  event: ZitadelEvent,
): string {
  const { ids } = recordKinds[section];
  const names =
    ids === 'none' ? Object.keys(fields).map((field) => [field]) : ids.fields === undefined ? [] : [ids.fields];
  const values = names.map((name) => identifyingValue(event, name));
  const owner = isShared === true ? '' : event.owner;
  return JSON.stringify([section, owner, aggregateId === undefined ? '' : event.aggregateId, ...values]);
}

/**
 * Returns the keys of events that can remove the record. Some events identify the record completely. Other events lack
 * the last identifying value, and so remove several records. For example, one event removes all triggers of a flow.
 */
function recordKeys({ record: { section, orgId, json } }: LedgerRecord): string[] {
  const created = creationEvent(section.name);
  if (created === undefined) return [];
  const { aggregateId, values } = eventIdentity({ section: section.name, orgId, json }, created);
  const owner = created.isShared === true ? '' : orgId;
  const wildcardValues = [...values.slice(0, -1), ''];
  return [values, ...(values.length > 1 ? [wildcardValues] : [])].map((list) =>
    JSON.stringify([section.name, owner, aggregateId, ...list]),
  );
}

/**
 * Returns the path of the record that an event removes. Returns undefined if records of the section have no ids of
 * their own.
 */
function removedPath(section: SectionName, event: ZitadelEvent): string | undefined {
  const { ids } = recordKinds[section];
  if (ids === 'none') return undefined;
  const id = ids.fields === undefined ? event.aggregateId : identifyingValue(event, ids.fields);
  return documentPath({ collection: recordSection(section).collection, id: documentId(id) });
}

/** For each type of aggregate, the collection of the records that are aggregates of this type. */
const aggregates = new Map(
  kinds.flatMap(({ section, created: { aggregateType } }) => {
    const { ids } = recordKinds[section];
    const isAggregate = ids !== 'none' && ids.fields === undefined;
    return isAggregate ? [[aggregateType, recordSection(section).collection] as const] : [];
  }),
);

/** Returns the paths of the record's parents. If ZITADEL deletes a parent, it deletes the record with it. */
function parentPaths({ record }: LedgerRecord): string[] {
  const { section, orgId, json } = record;
  const referenced = planReferences(record).filter(({ reference }) => !isOfList(reference));
  const created = creationEvent(section.name);
  const collection = created && aggregates.get(created.aggregateType);
  const keys = referenced.map(({ key }) => key);
  if (created === undefined || collection === undefined) return keys.map(documentPath);
  const { aggregateId } = eventIdentity({ section: section.name, orgId, json }, created);
  return [...keys, { collection, id: documentId(aggregateId) }].map(documentPath);
}
