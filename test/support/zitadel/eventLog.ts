import type { JsonObject } from '../../../shared/json/jsonObject.ts';

/** An event before it has a sequence number and a time. */
export interface EventDraft {
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly type: string;
  readonly payload?: JsonObject;
}

/** A stored event of the stand-in. */
export interface StoredEvent extends Required<EventDraft> {
  readonly owner: string;
  readonly editorId: string;
  readonly sequence: number;
  /** The time in microseconds since 1970. */
  readonly at: number;
}

/** A selection of events, in the form of ZITADEL's search. */
export interface EventSelection {
  readonly aggregateTypes: readonly string[];
  readonly eventTypes: readonly string[];
  readonly aggregateId: string;
  readonly resourceOwner: string;
  readonly editorUserId: string;
  readonly asc: boolean;
  readonly limit: number;
  /** The limit in microseconds since 1970: selects later events if `asc`, otherwise earlier events. */
  readonly from: number | undefined;
}

const MAX_PAGE = 1_000;

/** The events of a stand-in, in the order of their writes. */
export class EventLog {
  readonly events: StoredEvent[];
  private readonly aggregates: Map<string, { readonly sequence: number; readonly owner: string }>;
  private time = Date.now() * 1_000;

  /** @param earlier the log to copy; by default, there are no events */
  constructor(earlier?: EventLog) {
    this.events = [...(earlier?.events ?? [])];
    this.aggregates = new Map(earlier?.aggregates);
  }

  /**
   * Appends the events of one write.
   * @param keepsOwner whether an aggregate keeps its first owner, as in 2.71; newer releases write the owner of the request
   */
  append(drafts: readonly EventDraft[], by: { owner: string; editorId: string; keepsOwner: boolean }): void {
    this.time = Math.max(this.time + 1, Date.now() * 1_000);
    for (const { payload = {}, ...draft } of drafts) {
      const key = `${draft.aggregateType}/${draft.aggregateId}`;
      const last = this.aggregates.get(key);
      const owner = (by.keepsOwner ? last?.owner : undefined) ?? by.owner;
      const sequence = (last?.sequence ?? 0) + 1;
      this.aggregates.set(key, { sequence, owner });
      this.events.push({ ...draft, payload, owner, editorId: by.editorId, sequence, at: this.time });
    }
  }

  /** Makes the next events later. */
  advance(ms: number): void {
    this.time = Math.max(this.time, Date.now() * 1_000) + ms * 1_000;
  }

  /** Returns the owner of an aggregate's last event. */
  ownerOf(aggregateType: string, aggregateId: string): string | undefined {
    return this.aggregates.get(`${aggregateType}/${aggregateId}`)?.owner;
  }

  search({ aggregateTypes, eventTypes, from, ...selection }: EventSelection): StoredEvent[] {
    const has = (list: readonly string[], value: string) => list.length === 0 || list.includes(value);
    const is = (wanted: string, value: string) => wanted === '' || wanted === value;
    const found = this.events.filter(
      (event) =>
        has(aggregateTypes, event.aggregateType) &&
        has(eventTypes, event.type) &&
        is(selection.aggregateId, event.aggregateId) &&
        is(selection.resourceOwner, event.owner) &&
        is(selection.editorUserId, event.editorId) &&
        (from === undefined || (selection.asc ? event.at > from : event.at < from)),
    );
    const ordered = selection.asc ? found : found.toReversed();
    const { limit } = selection;
    return ordered.slice(0, limit === 0 || limit > MAX_PAGE ? MAX_PAGE : limit);
  }
}
