import type { JsonObject as StructJson } from '@bufbuild/protobuf';
import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import type { Event } from '@zitadel/proto/zitadel/event_pb.js';
import { zitadelCallFailed } from '../../shared/errors/placeErrors.ts';
import { callMethod, rpcError } from './rpc.ts';
import type { ZitadelConnection } from './zitadelConnection.ts';

// ZITADEL first writes a change as an event. It updates the results of other searches and of exports later, sometimes
// after a minute. A search for events waits until open transactions have ended.

/** A change of an aggregate. In ZITADEL, aggregates are, for example, users, projects and organisations. */
export interface ZitadelEvent {
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** The id of the organisation to which the aggregate belongs, or the id of the instance. */
  readonly owner: string;
  readonly type: string;
  readonly editorId: string;
  /** The position of the event among the events of its aggregate, beginning with 1. */
  readonly sequence: bigint;
  /** When the event was written, by ZITADEL's clock. Events that were written together have the same time. */
  readonly createdAt: EventTime;
  readonly payload: Readonly<StructJson>;
}

/** A time by ZITADEL's clock, in microseconds since 1970. */
export type EventTime = bigint;

/** An absent property does not restrict the result. */
export interface EventQuery {
  readonly aggregateTypes?: readonly string[];
  readonly eventTypes?: readonly string[];
  readonly aggregateId?: string;
  readonly owner?: string;
  readonly editorId?: string;
  /** If set, the search returns only events that are later than this time. */
  readonly after?: EventTime | undefined;
}

/** The maximum number of events on a page that ZITADEL returns. */
const EVENTS_PER_PAGE = 1_000;
/** The maximum number of event types that ZITADEL accepts in a search. */
const TYPES_PER_SEARCH = 30;
const READ_AT_ONCE = 8;
const MICROSECONDS = 1_000_000n;

/**
 * Yields pages of events, the oldest first. If the query has more than 30 event types, searches for 30 types at a time.
 * The events are then in the order of time only within each search.
 * @throws IdentityError if more events have the same time than a page can contain
 */
export async function* readEvents(
  connection: ZitadelConnection,
  query: EventQuery,
): AsyncGenerator<readonly ZitadelEvent[], void, void> {
  const { eventTypes = [] } = query;
  if (eventTypes.length <= TYPES_PER_SEARCH) {
    yield* readPages(connection, query);
    return;
  }
  for (let start = 0; start < eventTypes.length; start += TYPES_PER_SEARCH)
    yield* readPages(connection, { ...query, eventTypes: eventTypes.slice(start, start + TYPES_PER_SEARCH) });
}

async function* readPages(
  connection: ZitadelConnection,
  query: EventQuery,
): AsyncGenerator<readonly ZitadelEvent[], void, void> {
  let { after } = query;
  let seen = new Set<string>();
  for (;;) {
    const page = await searchEvents(connection, { ...query, after }, { asc: true, limit: EVENTS_PER_PAGE });
    const added = page.filter((event) => !seen.has(eventKey(event)));
    if (added.length > 0) yield added;
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_PER_PAGE) return;
    // Two pages can contain events of the same time. So the next page begins with the time of the last event, and
    // events that were already read are skipped.
    const next = last.createdAt - 1n;
    if (next === after) throw tooManyAtOnce(connection, query);
    after = next;
    seen = new Set(page.filter(({ createdAt }) => createdAt === last.createdAt).map(eventKey));
  }
}

function tooManyAtOnce({ origin }: ZitadelConnection, { eventTypes = [] }: EventQuery): Error {
  const problem = `ZITADEL has more than ${EVENTS_PER_PAGE} events with the same time (${eventTypes.join(', ')})`;
  return zitadelCallFailed({ url: origin, call: 'POST /admin/v1/events/_search', status: 200, message: problem });
}

/**
 * Reads the events of the given aggregates. The keys of the result are the ids of the aggregates. Each list begins with
 * the oldest event. For each aggregate, this function makes a call of about 60 ms. So `readEvents` is faster for many
 * aggregates.
 */
export async function readEventsOf(
  connection: ZitadelConnection,
  aggregateIds: readonly string[],
  query: Omit<EventQuery, 'aggregateId'>,
): Promise<ReadonlyMap<string, readonly ZitadelEvent[]>> {
  const eventsById = new Map<string, readonly ZitadelEvent[]>();
  const remaining = new Set(aggregateIds).values();
  const read = async () => {
    for (const aggregateId of remaining) {
      const pages = await Array.fromAsync(readEvents(connection, { ...query, aggregateId }));
      eventsById.set(aggregateId, pages.flat());
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, read));
  return eventsById;
}

export async function newestEvent(
  connection: ZitadelConnection,
  query: Omit<EventQuery, 'after'> = {},
): Promise<ZitadelEvent | undefined> {
  return (await searchEvents(connection, query, { asc: false, limit: 1 })).at(0);
}

export async function oldestEvent(
  connection: ZitadelConnection,
  query: EventQuery = {},
): Promise<ZitadelEvent | undefined> {
  return (await searchEvents(connection, query, { asc: true, limit: 1 })).at(0);
}

async function searchEvents(
  connection: ZitadelConnection,
  { aggregateTypes = [], eventTypes = [], aggregateId = '', owner = '', editorId = '', after }: EventQuery,
  order: { readonly asc: boolean; readonly limit: number },
): Promise<ZitadelEvent[]> {
  const { listEvents } = AdminService.method;
  const selected = { aggregateTypes: [...aggregateTypes], eventTypes: [...eventTypes], aggregateId };
  const from = after === undefined ? {} : { creationDateFilter: { case: 'from' as const, value: timestamp(after) } };
  const message = { ...selected, resourceOwner: owner, editorUserId: editorId, ...order, ...from };
  try {
    const { events } = (await callMethod(connection, listEvents, message)).message;
    connection.onRead?.(events.length);
    return events.map(toEvent);
  } catch (error) {
    throw rpcError(connection, listEvents, error);
  }
}

function timestamp(time: EventTime) {
  return { seconds: time / MICROSECONDS, nanos: Number(time % MICROSECONDS) * 1_000 };
}

function toEvent({ aggregate, editor, type, sequence, creationDate, payload = {} }: Event): ZitadelEvent {
  const { seconds = 0n, nanos = 0 } = creationDate ?? {};
  return {
    aggregateType: aggregate?.type?.type ?? '',
    aggregateId: aggregate?.id ?? '',
    owner: aggregate?.resourceOwner ?? '',
    type: type?.type ?? '',
    editorId: editor?.userId ?? '',
    sequence,
    createdAt: seconds * MICROSECONDS + BigInt(Math.trunc(nanos / 1_000)),
    payload,
  };
}

function eventKey({ aggregateType, aggregateId, sequence }: ZitadelEvent): string {
  return JSON.stringify([aggregateType, aggregateId, String(sequence)]);
}
