// The events of existing records of a ZITADEL, by which an import decides what it may change.

import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type EventQuery, type EventTime, readEvents, readEventsOf, type ZitadelEvent } from '../events.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import {
  type Closable,
  closableOf,
  creationEvents,
  type EventPlace,
  eventPlaceKey,
  ownEvents,
  placeKey,
} from './closable.ts';
import { judge, type Verdict } from './evidence.ts';
import type { LedgerRecord } from './ledger.ts';

/** A record of the file whose events are read. */
export interface Subject extends Pick<LedgerRecord, 'position'> {
  readonly record: Pick<OrganisationRecord, 'section' | 'orgId' | 'json'>;
}

/** The event that created a record, and its place. */
interface Creation {
  readonly place: EventPlace;
  readonly createdAt: EventTime;
}

/** Up to this number of records, their events are read one by one, instead of all events of their organisation. */
const FEW = 20;

/**
 * Decides about records by their events.
 * @param callerId the user whose imports count
 * @returns the verdicts by the records' positions
 */
export async function judgeRecords(
  connection: ZitadelConnection,
  callerId: string,
  subjects: readonly Subject[],
): Promise<Map<number, Verdict>> {
  const verdicts = new Map<number, Verdict>(subjects.map(({ position }) => [position, { is: 'foreign' }]));
  for (const [kind, orgId, group] of grouped(subjects)) {
    const created = await readCreations(connection, kind, group, { owner: orgId, editorId: callerId });
    for (const [position, events] of await readHistories(connection, kind, orgId, created))
      verdicts.set(position, judge(events, callerId));
  }
  return verdicts;
}

/** Groups records by kind and organisation. */
export function* grouped<Grouped extends Subject>(
  subjects: readonly Grouped[],
): Generator<[kind: Closable, orgId: string, group: readonly Grouped[]]> {
  for (const [kind, ofKind] of Map.groupBy(subjects, ({ record }) => closableOf(record.section.name)))
    if (kind !== undefined)
      for (const [orgId, group] of Map.groupBy(ofKind, ({ record }) => record.orgId)) yield [kind, orgId, group];
}

/** Finds the newest creations of records of one kind and organisation; returns them by the records' positions. */
export async function readCreations(
  connection: ZitadelConnection,
  kind: Closable,
  subjects: readonly Subject[],
  query: EventQuery,
): Promise<Map<number, Creation>> {
  const positions = new Map(subjects.map(({ position, record }) => [creationKey(kind, record), position]));
  const found = new Map<number, Creation>();
  for await (const page of readEvents(connection, { ...query, ...creationEvents(kind) })) {
    for (const event of page) {
      const position = positions.get(eventCreationKey(kind, event));
      if (position === undefined) continue;
      const part = kind.part === undefined ? '' : textAt(event.payload, kind.part, '');
      found.set(position, { place: { aggregateId: event.aggregateId, part }, createdAt: event.createdAt });
    }
  }
  return found;
}

function creationKey(kind: Closable, { json, orgId }: Subject['record']): string {
  const place = kind.placeOf(json, orgId);
  return place === undefined ? fieldsKey(kind, json) : placeKey(place);
}

function eventCreationKey(kind: Closable, event: ZitadelEvent): string {
  return kind.createdWith === undefined ? eventPlaceKey(kind, event) : fieldsKey(kind, event.payload);
}

function fieldsKey({ createdWith = [] }: Closable, fields: JsonObject): string {
  return JSON.stringify(createdWith.map((name) => textAt(fields, name, '')));
}

/** Reads the events of created records since their creation, by the records' positions. */
async function readHistories(
  connection: ZitadelConnection,
  kind: Closable,
  orgId: string,
  created: ReadonlyMap<number, Creation>,
): Promise<Map<number, ZitadelEvent[]>> {
  const [first] = [...created.values()].toSorted((a, b) => Number(a.createdAt - b.createdAt));
  if (first === undefined) return new Map();
  const histories = new Map<number, ZitadelEvent[]>([...created.keys()].map((position) => [position, []]));
  const positions = new Map([...created].map(([position, { place }]) => [placeKey(place), position]));
  const take = (events: readonly ZitadelEvent[]) => {
    for (const event of events) histories.get(positions.get(eventPlaceKey(kind, event)) ?? -1)?.push(event);
  };
  const query = { owner: orgId, after: first.createdAt - 1n, ...ownEvents(kind) };
  if (created.size > FEW) for await (const page of readEvents(connection, query)) take(page);
  else {
    const aggregateIds = [...created.values()].map(({ place }) => place.aggregateId);
    for (const events of (await readEventsOf(connection, aggregateIds, query)).values()) take(events);
  }
  return histories;
}
