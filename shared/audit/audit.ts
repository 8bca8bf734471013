import { shuttingDown } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { auditUnwritable } from '../errors/storeErrors.ts';
import { log, requestFields } from '../log.ts';
import type { Transaction } from '../store/store.ts';
import type { AuditEvent, AuditFacts, AuditTrail, Identity, Origin } from './auditEvent.ts';

interface CallEvents {
  readonly begun: string;
  /**
   * If this is `ok`, the trail records `begun` for a successful call, but not `ended`. If it is `started`, the trail
   * records both events for every call that begins.
   */
  readonly begunOutcome: 'started' | 'ok';
  /** The event at the end of the call. If `begunOutcome` is `ok`, the trail records it only after an error. */
  readonly ended: string;
  readonly denied?: string;
}

/**
 * A removal, a deletion or an upload has a single event, which is recorded before the effect or in the same commit as
 * the effect.
 */
const operationEvents = {
  export: { begun: 'export.started', begunOutcome: 'started', ended: 'export.finished', denied: 'export.denied' },
  import: { begun: 'import.started', begunOutcome: 'started', ended: 'import.finished', denied: 'import.denied' },
  'export-deletion': {
    begun: 'export.objectDeleted',
    begunOutcome: 'ok',
    ended: 'export.objectDeleted',
    denied: 'export.denied',
  },
  upload: {
    begun: 'import.uploadOpened',
    begunOutcome: 'ok',
    ended: 'import.uploadOpened',
    denied: 'import.denied',
  },
  'import-deletion': {
    begun: 'import.uploadDeleted',
    begunOutcome: 'ok',
    ended: 'import.uploadDeleted',
    denied: 'import.denied',
  },
  'otp-email': {
    begun: 'otpEmail.removed',
    begunOutcome: 'ok',
    ended: 'otpEmail.removed',
    denied: 'otpEmail.denied',
  },
} as const satisfies Readonly<Record<string, CallEvents>>;

export class Audit {
  readonly open = new Set<AuditedCall>();
  readonly now: () => Date;
  readonly trail: AuditTrail;

  constructor(trail: AuditTrail, now: () => Date = () => new Date()) {
    this.trail = trail;
    this.now = now;
  }

  call(operation: keyof typeof operationEvents, origin: Origin): AuditedCall {
    return new AuditedCall(this, operationEvents[operation], origin);
  }

  command(name: string): AuditedCall {
    const event = commandEvent(name);
    return new AuditedCall(this, { begun: event, begunOutcome: 'started', ended: event }, {});
  }

  /**
   * @throws IdentityError UNAVAILABLE if the event cannot be written; the log then contains a line about the failure
   */
  async append(event: AuditEvent): Promise<void> {
    try {
      await this.trail.append(event);
    } catch (error) {
      logUnwritten(error, event);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.open].map((call) => call.end(shuttingDown())));
    await this.trail.close();
  }
}

/** Returns the name of the event of a command, such as `command.patCreate` for `pat create`. */
export function commandEvent(name: string): string {
  const camelCase = name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `command.${camelCase}`;
}

/** Returns facts about a call that are known only at its end. `isComplete` is true if the call succeeded. */
type LateFacts = (isComplete: boolean) => AuditFacts;

/**
 * A call that the audit trail records: with an event before the first effect of the call, and usually with a second
 * event at its end.
 */
export class AuditedCall {
  private readonly audit: Audit;
  private events: CallEvents;
  private readonly origin: Origin;
  private who: Identity | undefined;
  private facts: AuditFacts = {};
  private late: LateFacts = () => ({});
  private beginning: Promise<void> | undefined;
  private joined: AuditEvent | undefined;
  private ending: Promise<void> | undefined;

  constructor(audit: Audit, events: CallEvents, origin: Origin) {
    this.audit = audit;
    this.events = events;
    this.origin = origin;
  }

  readonly identify = (who: Identity): void => {
    this.who = who;
  };

  /**
   * Runs `work`, which is a part of the call. If it fails, records the end of the call.
   * @throws the error of `work`
   */
  async watch<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.end(error);
      throw error;
    }
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.watch(async () => {
      const result = await work();
      await this.end();
      return result;
    });
  }

  /** Changes the operation of the call. Some requests need this, because only their body shows the operation. */
  become(operation: keyof typeof operationEvents): void {
    this.events = operationEvents[operation];
  }

  /** Sets the facts that the event contains if the call is denied. */
  describe(facts: AuditFacts): void {
    this.facts = facts;
  }

  /**
   * Records that the call begins. If the beginning is already recorded, does nothing. Call this method after all
   * checks, and wait for the result before the first effect.
   * @throws IdentityError UNAVAILABLE if the event cannot be written; the caller must then stop without an effect
   */
  begin(facts: AuditFacts, late: LateFacts = () => ({})): Promise<void> {
    this.beginning ??= this.appendBegun(facts, late);
    return this.beginning;
  }

  /**
   * Records a call whose only effect is the commit of a transaction. The commit contains both the effect and the event.
   * If the trail is not in the database, this method records the event once, before the commit. Call this method in
   * each attempt of the transaction, after all checks.
   * @throws IdentityError UNAVAILABLE if the event cannot be written before the commit. If the commit cannot write the
   *   event, the whole transaction fails
   */
  async beginIn(transaction: Transaction, facts: AuditFacts): Promise<void> {
    const { trail } = this.audit;
    if (trail.join === undefined) return this.begin(facts);
    this.facts = facts;
    this.joined = this.event(this.events.begun, this.events.begunOutcome);
    trail.join(this.joined, transaction);
  }

  /**
   * Records effects of a call that has begun, such as the deletion of records, with one event for each effect. The
   * commit of the transaction contains the events too. If the trail is not in the database, each attempt of the
   * transaction records the events before its commit.
   * @throws IdentityError UNAVAILABLE if an event cannot be written; the caller must then not commit the transaction
   */
  async recordIn(transaction: Transaction, name: string, parts: readonly AuditFacts[]): Promise<void> {
    const { trail, now } = this.audit;
    for (const facts of parts) {
      const event = { time: now().toISOString(), event: name, outcome: 'ok', ...this.who, ...this.origin, ...facts };
      if (trail.join === undefined) await this.audit.append(event);
      else trail.join(event, transaction);
    }
  }

  private async appendBegun(facts: AuditFacts, late: LateFacts): Promise<void> {
    this.facts = facts;
    this.late = late;
    await this.audit.append(this.event(this.events.begun, this.events.begunOutcome));
    this.audit.open.add(this);
  }

  /**
   * Records the end of the call. If the end is already recorded, does nothing. If the call is denied before it begins,
   * records an event only for an authenticated caller, because other callers could cause any number of events. If an
   * event cannot be written, the log contains a line about the failure.
   * @param error the error of the call; undefined if the call succeeded
   */
  end(error?: unknown): Promise<void> {
    this.ending ??= this.appendEnd(error === undefined ? undefined : IdentityError.from(error));
    return this.ending;
  }

  private async appendEnd(error: IdentityError | undefined): Promise<void> {
    const { ended, begunOutcome, denied } = this.events;
    const outcome = error?.code ?? 'ok';
    const hasBegun = this.audit.open.delete(this);
    if (this.joined !== undefined && auditUnwritable.is(error)) logUnwritten(error, this.joined);
    if (!hasBegun) {
      const isOnRecord = denied !== undefined && this.who?.tokenId !== undefined && isDenial(error);
      if (isOnRecord) await this.audit.append(this.event(denied, outcome)).catch(() => {});
      return;
    }
    if (outcome === begunOutcome) return;
    // Do not throw: the call already had its effects, and `append` has logged that the event is missing.
    await this.audit.append(this.event(ended, outcome, this.late(error === undefined))).catch(() => {});
  }

  private event(event: string, outcome: string, late: AuditFacts = {}): AuditEvent {
    const time = this.audit.now().toISOString();
    return { time, event, outcome, ...this.who, ...this.origin, ...this.facts, ...late };
  }
}

function isDenial(error: IdentityError | undefined): boolean {
  return error?.code === 'UNAUTHENTICATED' || error?.code === 'PERMISSION_DENIED';
}

function logUnwritten(error: unknown, { event, time, requestId = '' }: AuditEvent): void {
  log.error({ event, event_time: time, stack_trace: error, ...requestFields(requestId) }, 'audit failed');
}
