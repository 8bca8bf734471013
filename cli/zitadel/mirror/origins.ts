import { textAt } from '../../../shared/json/jsonObject.ts';
import { findCreations, isEventOf } from '../import/creations.ts';
import { isChange, type JudgedEvent } from '../import/evidence.ts';
import { creationEvent, recordKinds } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, readEvents, readEventsOf, type ZitadelEvent } from '../zitadelEvents.ts';
import type { DoomedRecord } from './doomedRecords.ts';

export interface Origin {
  readonly aggregateId: string;
  /**
   * The time at which an import with this token's user created the record. Undefined if another user has created or
   * changed the record.
   */
  readonly importedAt?: EventTime | undefined;
}

/**
 * Finds out when an import with this token's user created each record.
 * @param callerId the id of the token's user
 * @returns the origins. The keys are the paths of the records
 */
export async function readOrigins(
  connection: ZitadelConnection,
  callerId: string,
  doomed: readonly DoomedRecord[],
): Promise<ReadonlyMap<string, Origin>> {
  const places = await locate(connection, doomed);
  const origins = new Map<string, Origin>();
  for (const [aggregateType, ofType] of Map.groupBy(
    doomed,
    ({ section }) => creationEvent(section.name)?.aggregateType,
  )) {
    if (aggregateType === undefined) continue;
    for (const [owner, records] of Map.groupBy(ofType, ({ orgId }) => orgId)) {
      const ids = new Set(records.flatMap(({ path }) => places.get(path) ?? []));
      const events = await readAggregates(connection, ids, { aggregateTypes: [aggregateType], owner });
      for (const record of records) {
        const aggregateId = places.get(record.path) ?? '';
        const importedAt = importTime(record, events.get(aggregateId) ?? [], callerId);
        origins.set(record.path, { aggregateId, importedAt });
      }
    }
  }
  return origins;
}

/**
 * Reads the events of aggregates. First reads pages with events of the whole organisation. If there are more pages than
 * aggregates, reads each aggregate separately, because this takes about as long as reading a page.
 */
async function readAggregates(
  connection: ZitadelConnection,
  ids: ReadonlySet<string>,
  query: { readonly aggregateTypes: readonly string[]; readonly owner: string },
): Promise<ReadonlyMap<string, readonly ZitadelEvent[]>> {
  const eventsById = new Map<string, ZitadelEvent[]>();
  let pages = 0;
  for await (const page of readEvents(connection, query)) {
    if (++pages > ids.size) return await readEventsOf(connection, [...ids], query);
    for (const event of page) {
      if (!ids.has(event.aggregateId)) continue;
      const events = eventsById.get(event.aggregateId) ?? [];
      eventsById.set(event.aggregateId, events);
      events.push(event);
    }
  }
  return eventsById;
}

/**
 * Returns the id of each record's aggregate, by the record's path. For user grants, ZITADEL generates this id, so the
 * id is only in events.
 */
async function locate(
  connection: ZitadelConnection,
  doomed: readonly DoomedRecord[],
): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>();
  const generated: DoomedRecord[] = [];
  for (const record of doomed) {
    const { section, json, orgId, path } = record;
    const created = creationEvent(section.name);
    if (created?.aggregateId !== undefined) places.set(path, textAt(json, created.aggregateId, orgId));
    else if (created !== undefined) generated.push(record);
  }
  for (const [owner, records] of Map.groupBy(generated, ({ orgId }) => orgId)) {
    const sent = records.map(({ section, json }, position) => ({
      position,
      section: section.name,
      orgId: owner,
      json,
    }));
    const search = { callerId: undefined, after: undefined, owner, isNewest: true };
    for (const [position, { aggregateId }] of await findCreations(connection, sent, search))
      places.set(records[position]?.path ?? '', aggregateId);
  }
  return places;
}

/**
 * Returns the time when an import of the token's user created a record. Returns undefined if another user has created
 * or changed the record.
 */
function importTime(
  record: DoomedRecord,
  aggregateEvents: readonly ZitadelEvent[],
  callerId: string,
): EventTime | undefined {
  const events = isAggregate(record)
    ? aggregateEvents
    : aggregateEvents.filter((event) => isEventOf({ ...record, section: record.section.name }, event));
  const created = creationEvent(record.section.name);
  // A record with the same id may have existed earlier and been removed. The events before the last creation are about
  // that earlier record.
  const start = events.findLastIndex(({ type }) => type === created?.type);
  const since = events.slice(Math.max(start, 0));
  const isOfOthers = (event: JudgedEvent) => event.editorId !== callerId && isChange(event);
  return start === -1 || since.some(isOfOthers) ? undefined : since[0]?.createdAt;
}

/** Whether all events of the record's aggregate are about the record itself. */
function isAggregate({ section }: DoomedRecord): boolean {
  const created = creationEvent(section.name);
  const hasOwnId = recordKinds[section.name].ids !== 'none' && created?.fields === undefined;
  return hasOwnId || created?.aggregateId === undefined;
}
