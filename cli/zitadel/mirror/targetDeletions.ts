// Finds records of a file that were deleted in ZITADEL.

import { recordNoun } from '../../../shared/errors/nouns.ts';
import { zitadelMirrorDeleted } from '../../../shared/errors/placeErrors.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import type { SectionName } from '../../../shared/organisation/sections/section.ts';
import { recordName } from '../../records/comparedRecord.ts';
import { named } from '../../terminal/numberTexts.ts';
import { eventIdentity, findCreations, identifyingValue } from '../import/creations.ts';
import { eventParams } from '../import/evidence.ts';
import type { ImportLedger, LedgerRecord } from '../import/ledger.ts';
import { type CreationEvent, creationEvent, recordKinds, removalEvents } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readEvents, type ZitadelEvent } from '../zitadelEvents.ts';

/** The records of a file that an import is about to create. */
interface CreatedRecords {
  readonly ledger: ImportLedger;
  /** The existing organisations of the file in which the import must not undo deletions. */
  readonly orgIds: ReadonlySet<string>;
  /** The user of the token. Earlier mirroring imports deleted records as this user. */
  readonly callerId: string;
  /** The time at which the source was read. */
  readonly readTime: string;
}

/** A record, and the event of its deletion. */
interface DeletedRecord {
  readonly record: LedgerRecord;
  readonly removal: ZitadelEvent;
}

/** The largest number of records that an error lists. */
const MAX_NAMED = 20;

/**
 * Requires that no other user has deleted a record that the import is about to create, and that the token's user has
 * not deleted such a record since the source was read.
 * @throws IdentityError ZITADEL_MIRROR_DELETED
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
  const { ledger } = created;
  const removals = await readRemovals(connection, created);
  const found: DeletedRecord[] = [];
  if (removals.size === 0) return found;
  for await (const record of ledger.records(connection.signal)) {
    if (!isToCreate(record)) continue;
    const removal = recordKeys(record)
      .flatMap((key) => removals.get(key) ?? [])
      .at(0);
    if (removal !== undefined) found.push({ record, removal });
  }
  return await withoutRecreated(connection, found);
}

/** Whether the import is about to create a record, or would create it if ZITADEL accepted the id again. */
function isToCreate({ isHeld, outcome, found, issues }: LedgerRecord): boolean {
  const isUsed = issues.some(({ reason }) => reason === 'id_used');
  return !isHeld && (isUsed || (outcome === null && found === 'missing'));
}

/** Omits records that were created again after their deletion. */
async function withoutRecreated(
  connection: ZitadelConnection,
  found: readonly DeletedRecord[],
): Promise<readonly DeletedRecord[]> {
  const recreated = new Set<number>();
  for (const [owner, ofOwner] of Map.groupBy(found, ({ removal }) => removal.owner)) {
    const sent = ofOwner.map(({ record: { position, record } }) => ({
      position,
      section: record.section.name,
      orgId: record.orgId,
      json: record.json,
    }));
    const search = { callerId: undefined, after: undefined, owner, isNewest: true };
    const creations = await findCreations(connection, sent, search);
    for (const { record, removal } of ofOwner) {
      const { createdAt = 0n } = creations.get(record.position) ?? {};
      if (createdAt > removal.createdAt) recreated.add(record.position);
    }
  }
  return found.filter(({ record }) => !recreated.has(record.position));
}

/**
 * Returns the last event that removed each record of the organisations, by key. Omits removals by the token's user
 * before the source was read: if the file contains such a record, it was created in the source again.
 */
async function readRemovals(
  connection: ZitadelConnection,
  { orgIds, callerId, readTime }: CreatedRecords,
): Promise<ReadonlyMap<string, ZitadelEvent>> {
  const removals = new Map<string, ZitadelEvent>();
  if (orgIds.size === 0) return removals;
  const query = {
    aggregateTypes: [...new Set(kinds.map(({ created }) => created.aggregateType))],
    eventTypes: [...new Set(kinds.flatMap(({ removed }) => removed))],
  };
  for await (const page of readEvents(connection, query))
    for (const event of page) {
      const isUndone = event.editorId !== callerId || isLater(event, readTime);
      if (!isUndone || !orgIds.has(event.owner)) continue;
      for (const { section, created, removed } of kinds)
        if (removed.includes(event.type) && isRemoval(created, event))
          removals.set(eventKey(section, created, event), event);
    }
  return removals;
}

/** Whether an event happened after the source was read. */
function isLater({ createdAt }: ZitadelEvent, readTime: string): boolean {
  return Number(createdAt / 1_000n) > Date.parse(readTime);
}

interface RemovableKind {
  readonly section: SectionName;
  readonly created: CreationEvent;
  /** The types of the events that remove the records. */
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
  const values = names.map((one) => identifyingValue(event, one));
  const owner = isShared === true ? '' : event.owner;
  return JSON.stringify([section, owner, aggregateId === undefined ? '' : event.aggregateId, ...values]);
}

/**
 * Returns the keys of the events that may remove a record. An event without the last of the identifying values removes
 * several records, such as all triggers of a flow.
 */
function recordKeys({ record: { section, orgId, json } }: LedgerRecord): string[] {
  const created = creationEvent(section.name);
  if (created === undefined) return [];
  const { aggregateId, values } = eventIdentity({ section: section.name, orgId, json }, created);
  const owner = created.isShared === true ? '' : orgId;
  const all = [...values.slice(0, -1), ''];
  return [values, ...(values.length > 1 ? [all] : [])].map((list) =>
    JSON.stringify([section.name, owner, aggregateId, ...list]),
  );
}
