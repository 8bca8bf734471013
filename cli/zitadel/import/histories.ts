// Reads the events with which an import decides which existing records it may change.

import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { EventPlace } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, readEvents, readEventsOf, type ZitadelEvent } from '../zitadelEvents.ts';
import { type Closable, closableOf, eventPlace, eventPlaceKey, ownEvents, placeKey } from './closable.ts';
import { findCreations } from './creations.ts';
import { judge, type Verdict } from './evidence.ts';
import type { LedgerRecord } from './ledger.ts';

export interface Subject extends Pick<LedgerRecord, 'position'> {
  readonly record: Pick<OrganisationRecord, 'section' | 'orgId' | 'json'>;
}

interface Creation {
  readonly place: EventPlace;
  readonly createdAt: EventTime;
}

/**
 * Up to this number of records, the import reads the events of each record separately. For more records, it reads all
 * events of the organisation.
 */
const FEW = 20;

/**
 * @param callerId the id of the token's user, whose imports may have created the records
 * @returns the verdicts; the keys are the records' positions in the ledger
 */
export async function judgeRecords(
  connection: ZitadelConnection,
  callerId: string,
  subjects: readonly Subject[],
): Promise<Map<number, Verdict>> {
  const verdicts = new Map<number, Verdict>(subjects.map(({ position }) => [position, { is: 'foreign' }]));
  for (const [kind, orgId, group] of grouped(subjects)) {
    const created = await readCreations(connection, kind, group, { orgId, callerId });
    for (const [position, events] of await readHistories(connection, kind, orgId, created))
      verdicts.set(position, judge(events, callerId));
  }
  return verdicts;
}

export function* grouped<Grouped extends Subject>(
  subjects: readonly Grouped[],
): Generator<[kind: Closable, orgId: string, group: readonly Grouped[]]> {
  for (const [kind, ofKind] of Map.groupBy(subjects, ({ record }) => closableOf(record.section.name)))
    if (kind !== undefined)
      for (const [orgId, group] of Map.groupBy(ofKind, ({ record }) => record.orgId)) yield [kind, orgId, group];
}

/**
 * Returns the newest creation of each record. The key is the record's position in the ledger. All records must be of
 * the same kind and organisation.
 * @param callerId the id of the user who must have created the records. If absent, any user may have created them
 */
export async function readCreations(
  connection: ZitadelConnection,
  kind: Closable,
  subjects: readonly Subject[],
  { orgId, callerId }: { readonly orgId: string; readonly callerId?: string },
): Promise<Map<number, Creation>> {
  const records = subjects.map(({ position, record: { section, json } }) => {
    return { position, section: section.name, orgId, json };
  });
  const search = { callerId, owner: orgId, after: undefined, isNewest: true } as const;
  const events = [...(await findCreations(connection, records, search))];
  return new Map(
    events.map(([position, event]) => [position, { place: eventPlace(kind, event), createdAt: event.createdAt }]),
  );
}

/** Returns the events of each record since its creation, by the record's position in the ledger. */
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
