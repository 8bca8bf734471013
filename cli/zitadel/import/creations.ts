// Creation events show whether an import created a record, and in which organisation.

import { defined } from '../../../shared/defined.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import { canonicalLanguageTag } from '../../../shared/organisation/languageTag.ts';
import type { FieldPath } from '../../../shared/organisation/relations.ts';
import { Backoff, type RetryPolicy } from '../../../shared/retry.ts';
import { type CreationEvent, creationEvent, eventPrefix, recordKinds } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, readEvents, type ZitadelEvent } from '../zitadelEvents.ts';
import type { OutgoingRecord } from './outgoingRecords.ts';

type SentRecord = Pick<OutgoingRecord, 'position' | 'section' | 'orgId' | 'json'>;

/** ZITADEL shows an event only after all older transactions have ended. */
const defaultPolls: RetryPolicy = { attempts: () => 12, initialDelayMs: 100, maxDelayMs: 2_000 };

interface CreationSearch {
  /**
   * The id of the user who created the records, usually the token's user. Undefined if any user may have created them.
   */
  readonly callerId: string | undefined;
  /**
   * The time after which the events happened, usually the time of the newest event before the records were sent.
   * Undefined for events of any time.
   */
  readonly after: EventTime | undefined;
  /** The organisation that owns the aggregates of the events. If absent, any organisation. */
  readonly owner?: string;
  /**
   * Whether the search returns the newest creation event of a record. If absent, the search returns the first event in
   * the record's own organisation, or else the first event in any organisation.
   */
  readonly isNewest?: boolean;
  /** Returns true if the search must wait for the event of the record. If absent, the search waits for no event. */
  readonly isExpected?: (record: SentRecord) => boolean;
}

/**
 * Finds the creation event of each record. Waits for the events that the caller expects. Each key of the result is the
 * position of a record in the ledger. The result lacks records for which no event appears.
 */
export async function findCreations(
  connection: ZitadelConnection,
  records: readonly SentRecord[],
  { callerId, after, owner, isNewest = false, isExpected = () => false }: CreationSearch,
): Promise<ReadonlyMap<number, ZitadelEvent>> {
  const creations = new Map<number, ZitadelEvent>();
  const events = records.flatMap(({ section }) => creationEvent(section) ?? []);
  if (events.length === 0) return creations;
  const query = {
    aggregateTypes: [...new Set(events.map(({ aggregateType }) => aggregateType))],
    eventTypes: [...new Set(events.map(({ type }) => type))],
    ...defined({ editorId: callerId, owner }),
    after,
  };
  const wanted = Map.groupBy(records, recordKey);
  const backoff = new Backoff(connection.polls ?? defaultPolls, connection.signal);
  do {
    for await (const page of readEvents(connection, query))
      for (const event of page)
        for (const key of eventKeys(event))
          for (const record of wanted.get(key) ?? [])
            if (isNewest || isBetter(event, creations.get(record.position), record))
              creations.set(record.position, event);
  } while (
    records.some(
      (record) => isExpected(record) && !creations.has(record.position) && recordKey(record) !== undefined,
    ) &&
    (await backoff.failed(undefined))
  );
  return creations;
}

function isBetter({ owner }: ZitadelEvent, other: ZitadelEvent | undefined, { orgId }: SentRecord): boolean {
  return other === undefined || (other.owner !== orgId && owner === orgId);
}

/**
 * True if an event shows that ZITADEL created the record in its own organisation. For some kinds of records, the
 * aggregate may belong to another organisation. The event then does not show the record's organisation, so the result
 * is true.
 */
export function isInPlace({ owner }: ZitadelEvent, { section, orgId }: OutgoingRecord): boolean {
  return owner === orgId || creationEvent(section)?.isShared === true;
}

export function isEventOf(record: Omit<SentRecord, 'position'>, event: ZitadelEvent): boolean {
  const created = creationEvent(record.section);
  if (created === undefined || !event.type.startsWith(eventPrefix(created))) return false;
  return eventKeys({ ...event, type: created.type }).has(recordKey(record) ?? '');
}

function recordKey(record: Omit<SentRecord, 'position'>): string | undefined {
  const event = creationEvent(record.section);
  if (event === undefined) return undefined;
  const { aggregateId, values } = eventIdentity(record, event);
  return JSON.stringify([event.type, aggregateId, ...values]);
}

interface EventIdentity {
  /** The id of the aggregate. Empty if ZITADEL generates this id. */
  readonly aggregateId: string;
  readonly values: readonly string[];
}

export function eventIdentity(
  { section: name, orgId, json }: Omit<SentRecord, 'position'>,
  { aggregateId, fields = {} }: CreationEvent,
): EventIdentity {
  const { values = {} } = recordSection(name);
  const read = (path: FieldPath) => {
    const value = textAt(json, path, orgId);
    const converted = values[path]?.(value).value ?? value;
    return canonical(path, typeof converted === 'string' ? converted : value);
  };
  return { aggregateId: aggregateId === undefined ? '' : read(aggregateId), values: Object.values(fields).map(read) };
}

/** @param fields the names that the field with the identifying value can have in different types of events */
export function identifyingValue({ payload }: Pick<ZitadelEvent, 'payload'>, fields: readonly string[]): string {
  const field = fields.find((name) => payload[name] !== undefined) ?? '';
  return canonical(field, String(payload[field] ?? ''));
}

function eventKeys({ type, aggregateId, payload }: ZitadelEvent): Set<string> {
  const events = Object.values(recordKinds).flatMap(({ created }) =>
    created !== 'never' && created.type === type ? [created] : [],
  );
  return new Set(
    events.map(({ fields = {}, ...event }) => {
      const values = Object.keys(fields).map((field) => identifyingValue({ payload }, [field]));
      return JSON.stringify([type, event.aggregateId === undefined ? '' : aggregateId, ...values]);
    }),
  );
}

function canonical(field: string, value: string): string {
  return field === 'language' ? (canonicalLanguageTag(value) ?? value) : value;
}
