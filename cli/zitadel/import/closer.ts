// Deactivates or locks records in ZITADEL if they are deactivated or locked in the file. This is necessary because no
// release of ZITADEL imports all states.

import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { tokenForbidden, zitadelCallFailed } from '../../../shared/errors/placeErrors.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { isClosed } from '../../../shared/organisation/states.ts';
import { Backoff, type RetryPolicy } from '../../../shared/retry.ts';
import { hasErrorId } from '../errorIds.ts';
import { searchUserStates } from '../export/omittedStates.ts';
import type { EventPlace } from '../recordKinds.ts';
import { rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, newestEvent, readEvents } from '../zitadelEvents.ts';
import {
  type Closable,
  closables,
  eventPlaceKey,
  hasGeneratedPlace,
  isClosing,
  placeKey,
  placeOf,
  stateEvents,
} from './closable.ts';
import { grouped, readCreations } from './histories.ts';
import type { ImportLedger, LedgerIssue, LedgerRecord } from './ledger.ts';

/** A record that is still open, as far as this process knows. */
interface OpenRecord {
  readonly kind: Closable;
  readonly entry: LedgerRecord;
  /** Identifies the record's events. Undefined if ZITADEL has no event that created the record. */
  readonly place: EventPlace | undefined;
}

const CLOSED_AT_ONCE = 8;
const LOCKED = 'USER_STATE_LOCKED';
/** A search in ZITADEL shows a change after at most 2 s. */
const defaultPolls: RetryPolicy = { attempts: () => 10, initialDelayMs: 250, maxDelayMs: 2_000 };

const usersFirst = closables.filter(({ isAtOnce }) => isAtOnce === true).flatMap(({ sections }) => sections);

/**
 * Closes records, and reads ZITADEL's events to verify that the records are closed. For users, ZITADEL's search must
 * show this as well.
 */
export class Closer {
  private readonly connection: ZitadelConnection;
  private readonly ledger: ImportLedger;
  /** The time of the newest event from before the import. */
  private readonly start: EventTime;
  /** The time of the newest event that this object has read. */
  private seen: EventTime;
  private readonly closedUsers: OpenRecord[] = [];

  private constructor(connection: ZitadelConnection, ledger: ImportLedger, start: EventTime) {
    this.connection = connection;
    this.ledger = ledger;
    [this.start, this.seen] = [start, start];
  }

  /**
   * Closes users whom an earlier import has created but not closed. Must be called before the first request of the
   * import.
   */
  static async start(connection: ZitadelConnection, ledger: ImportLedger): Promise<Closer> {
    const newest = ledger.hasClosings ? await newestEvent(connection) : undefined;
    const closer = new Closer(connection, ledger, newest?.createdAt ?? 0n);
    await closer.close(ledger.toClose(usersFirst, 'existing'), closer.start);
    return closer;
  }

  async afterRequest(): Promise<void> {
    await this.close(this.ledger.toClose(usersFirst, 'created'), this.seen);
  }

  /** Closes records that contain other records, such as projects, last. */
  async finish(): Promise<void> {
    for (const { sections, isAtOnce } of closables) {
      for (const which of ['existing', 'created'] as const)
        await this.close(this.ledger.toClose(sections, which), this.start);
      if (isAtOnce === true) await this.proveUsers();
    }
  }

  /**
   * Closes records. For each record that remains open, stores an error.
   * @param after the time after which an event shows that a record was closed
   */
  private async close(entries: readonly LedgerRecord[], after: EventTime): Promise<void> {
    if (entries.length === 0) return;
    const records = await this.locate(entries);
    // Newer releases of ZITADEL import some states, so some of these records are closed without a call.
    const closed = await this.closed(records, after);
    const open = records.filter(({ entry }) => !closed.has(entry.position));
    const problems = await this.callAll(open);
    const closedNow = open.length === 0 ? closed : await this.closed(records, after);
    for (const record of records) {
      const { entry, kind } = record;
      const problem = problems.get(entry.position);
      this.ledger.settleClosing(entry);
      const isClosed = problem !== undefined && hasErrorId(problem, kind.errorIds?.closed ?? []);
      const hasClosed = isClosed || closedNow.has(entry.position);
      if (!hasClosed) this.ledger.addProblem(entry, openIssue(entry, 'open_unconfirmed', problem));
      else if (kind.isAtOnce === true) this.closedUsers.push(record);
    }
  }

  /**
   * If ZITADEL's search still shows closed users as open, closes them a second time. The reason is that release 2 can
   * miss an event if several events have the same time. A user can still log in after such a miss.
   */
  private async proveUsers(): Promise<void> {
    const passedOver = await this.openUsers(this.closedUsers);
    const problems = new Map<number, string | undefined>();
    for (const record of passedOver) problems.set(record.entry.position, await this.closeAgain(record));
    for (const { entry } of await this.openUsers(passedOver))
      this.ledger.addProblem(entry, openIssue(entry, 'open_in_search', problems.get(entry.position)));
  }

  private async openUsers(users: readonly OpenRecord[]): Promise<readonly OpenRecord[]> {
    const backoff = new Backoff(this.connection.polls ?? defaultPolls, this.connection.signal);
    for (let open = users; ; ) {
      const stillOpen: OpenRecord[] = [];
      for (const [orgId, ofOrganisation] of Map.groupBy(open, ({ entry }) => entry.record.orgId)) {
        const ids = ofOrganisation.flatMap(({ place }) => (place ? [place.aggregateId] : []));
        const states = await searchUserStates(this.connection, orgId, ids);
        stillOpen.push(...ofOrganisation.filter(({ place }) => !isClosed(states.get(place?.aggregateId ?? ''))));
      }
      open = stillOpen;
      if (open.length === 0 || !(await backoff.failed(undefined))) return open;
    }
  }

  /** Returns ZITADEL's reason if ZITADEL rejects a call. */
  private async closeAgain(record: OpenRecord): Promise<string | undefined> {
    const { kind, entry, place } = record;
    if (place === undefined) return undefined;
    const management = this.managementOf(entry);
    let problem: string | undefined;
    for (const open of kind.reopen ?? []) {
      problem = await attempt(() => open(management, place));
      if (problem === undefined) return this.call(record, entry.record.state?.value === LOCKED);
    }
    return problem;
  }

  private managementOf({ record: { orgId } }: LedgerRecord) {
    return rpcClient(this.connection, ManagementService, { orgId });
  }

  private async locate(entries: readonly LedgerRecord[]): Promise<OpenRecord[]> {
    const located: OpenRecord[] = [];
    for (const [kind, orgId, group] of grouped(entries)) {
      const { connection } = this;
      const created = hasGeneratedPlace(kind) ? await readCreations(connection, kind, group, { orgId }) : undefined;
      for (const entry of group) {
        const place =
          created === undefined ? placeOf(kind, entry.record.json, orgId) : created.get(entry.position)?.place;
        located.push({ kind, entry, place });
      }
    }
    return located;
  }

  /**
   * Returns the closed records. Each number is the position of a record in the ledger, which lists the records of the
   * import.
   */
  private async closed(records: readonly OpenRecord[], after: EventTime): Promise<Set<number>> {
    const closed = new Set<number>();
    for (const [kind, ofKind] of Map.groupBy(records, (record) => record.kind)) {
      const placed = ofKind.flatMap(({ place, entry }) => (place ? [[placeKey(place), entry.position] as const] : []));
      const positions = new Map(placed);
      for await (const page of readEvents(this.connection, { ...stateEvents(kind), after })) {
        for (const event of page) {
          const position = positions.get(eventPlaceKey(kind, event));
          if (position !== undefined && isClosing(event)) closed.add(position);
          else if (position !== undefined) closed.delete(position);
          if (event.createdAt > this.seen) this.seen = event.createdAt;
        }
      }
    }
    return closed;
  }

  /**
   * Returns ZITADEL's reasons for records that ZITADEL does not close. The key is the position of the record in the
   * ledger.
   */
  private async callAll(records: readonly OpenRecord[]): Promise<Map<number, string>> {
    const problems = new Map<number, string>();
    const remaining = records.values();
    const callNext = async () => {
      for (const record of remaining) {
        const problem = await this.call(record, record.entry.record.state?.value === LOCKED);
        if (problem !== undefined) problems.set(record.entry.position, problem);
      }
    };
    await Promise.all(Array.from({ length: CLOSED_AT_ONCE }, callNext));
    return problems;
  }

  private async call(record: OpenRecord, locks: boolean): Promise<string | undefined> {
    const { kind, entry, place } = record;
    if (place === undefined) return undefined;
    const management = this.managementOf(entry);
    const problem = await attempt(async () => {
      if (locks) await kind.lock?.(management, place);
      else await kind.close(management, place, entry.record.json);
    });
    const mustLock = problem !== undefined && !locks && hasErrorId(problem, kind.errorIds?.onlyLocked ?? []);
    return mustLock ? this.call(record, true) : problem;
  }
}

/** Returns ZITADEL's message if ZITADEL rejects the call. */
async function attempt(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!zitadelCallFailed.is(error) && !tokenForbidden.is(error)) throw error;
    const { message, reason = error.text } = error.params;
    return message ?? reason;
  }
}

/** @param error ZITADEL's message, if ZITADEL rejects the call that closes the record */
function openIssue(
  { record }: LedgerRecord,
  otherwise: 'open_unconfirmed' | 'open_in_search',
  error: string | undefined,
): LedgerIssue {
  const state = record.state?.value ?? '';
  return error === undefined ? because(otherwise, { state }) : because('open_refused', { state, error });
}
