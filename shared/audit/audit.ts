// Audited calls: their events and when these are recorded.

import { shuttingDown } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { auditUnwritable } from '../errors/storeErrors.ts';
import { log } from '../log.ts';
import type { Transaction } from '../store/store.ts';
import type { AuditEvent, AuditFacts, AuditTrail, Identity, Origin } from './auditEvent.ts';

interface CallEvents {
  /** The event before the call's first effect. */
  readonly begun: string;
  /** The outcome in that event: of a call whose success has no event of its own, it is `ok`. */
  readonly begunOutcome: 'started' | 'ok';
  /** The event at the end; an error's only, if the success is on record already. */
  readonly ended: string;
  /** The event of a call that is denied before it begins, to a caller whom a token proves. */
  readonly denied?: string;
}

/** The events of the operations. A removal has one: its success is on record with its commit, or before. */
const operationEvents = {
  export: { begun: 'export.started', begunOutcome: 'started', ended: 'export.finished', denied: 'export.denied' },
  import: { begun: 'import.started', begunOutcome: 'started', ended: 'import.finished', denied: 'import.denied' },
  'otp-email': {
    begun: 'otpEmail.removed',
    begunOutcome: 'ok',
    ended: 'otpEmail.removed',
    denied: 'otpEmail.denied',
  },
} as const satisfies Readonly<Record<string, CallEvents>>;

/** Puts calls on record in a trail. */
export class Audit {
  /** The calls that have begun and not ended. */
  readonly open = new Set<AuditedCall>();
  readonly now: () => Date;
  readonly trail: AuditTrail;

  constructor(trail: AuditTrail, now: () => Date = () => new Date()) {
    this.trail = trail;
    this.now = now;
  }

  /** Creates the record of an operation's call, which begins later. */
  call(operation: keyof typeof operationEvents, origin: Origin): AuditedCall {
    return new AuditedCall(this, operationEvents[operation], origin);
  }

  /** Creates the record of a command, such as `pat create`. */
  command(name: string): AuditedCall {
    const event = commandEvent(name);
    return new AuditedCall(this, { begun: event, begunOutcome: 'started', ended: event }, {});
  }

  /** @throws IdentityError UNAVAILABLE when the event cannot be written, which is logged */
  async append(event: AuditEvent): Promise<void> {
    try {
      await this.trail.append(event);
    } catch (error) {
      log.auditFailed(error, event);
      throw error;
    }
  }

  /** Ends the calls that are still running at the end of the process, and closes the trail. */
  async close(): Promise<void> {
    await Promise.all([...this.open].map((call) => call.end(shuttingDown())));
    await this.trail.close();
  }
}

/** Returns the event of a command: `command.patCreate` for `pat create`. */
export function commandEvent(name: string): string {
  const camelCase = name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `command.${camelCase}`;
}

/** Facts that are known only at the end. `isComplete` is whether the call succeeded. */
type LateFacts = (isComplete: boolean) => AuditFacts;

/** One call on record: an event before its first effect, and one at its end, whatever ends it. */
export class AuditedCall {
  private readonly audit: Audit;
  private readonly events: CallEvents;
  private readonly origin: Origin;
  private who: Partial<Identity> = {};
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

  /** Takes note of the caller, as soon as a token proves who it is. */
  readonly identify = ({ userId, tokenId }: Identity): void => {
    this.who = { userId, tokenId };
  };

  /**
   * Does some of the call's work, and puts an error on record.
   * @throws the error of the work
   */
  async watch<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.end(error);
      throw error;
    }
  }

  /** Does the rest of the call's work, and puts its end on record. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.watch(async () => {
      const result = await work();
      await this.end();
      return result;
    });
  }

  /** Takes note of what the call is about, in case it is denied. */
  describe(facts: AuditFacts): void {
    this.facts = facts;
  }

  /**
   * Puts the call on record, once. Call it after all checks, and wait for it before the first effect.
   * @throws IdentityError UNAVAILABLE when the event cannot be written: the call must have no effect
   */
  begin(facts: AuditFacts, late: LateFacts = () => ({})): Promise<void> {
    this.beginning ??= this.appendBegun(facts, late);
    return this.beginning;
  }

  /**
   * Puts a call on record whose only effect is the commit of a transaction: with that commit, or once before it where the
   * trail is outside of the database. Call it in each attempt of the transaction, after all checks.
   * @throws IdentityError UNAVAILABLE, as `begin` does; the transaction, if it cannot be written with the event
   */
  async beginIn(transaction: Transaction, facts: AuditFacts): Promise<void> {
    const { trail } = this.audit;
    if (trail.join === undefined) return this.begin(facts);
    this.facts = facts;
    this.joined = this.event(this.events.begun, this.events.begunOutcome);
    trail.join(this.joined, transaction);
  }

  private async appendBegun(facts: AuditFacts, late: LateFacts): Promise<void> {
    this.facts = facts;
    this.late = late;
    await this.audit.append(this.event(this.events.begun, this.events.begunOutcome));
    this.audit.open.add(this);
  }

  /**
   * Puts the end on record, once. A call that fails before it begins had no effect, and has an event only if it is denied
   * and a token proves the caller: strangers can cause any number, and each of their calls is a line of the log.
   * @param error what ended the call; undefined for a success
   */
  end(error?: unknown): Promise<void> {
    this.ending ??= this.appendEnd(error === undefined ? undefined : IdentityError.from(error));
    return this.ending;
  }

  private async appendEnd(error: IdentityError | undefined): Promise<void> {
    const { ended, begunOutcome, denied } = this.events;
    const outcome = error?.code ?? 'ok';
    const hasBegun = this.audit.open.delete(this);
    if (this.joined !== undefined && auditUnwritable.is(error)) log.auditFailed(error, this.joined);
    if (!hasBegun) {
      const isOnRecord = denied !== undefined && this.who.tokenId !== undefined && isDenial(error);
      if (isOnRecord) await this.audit.append(this.event(denied, outcome)).catch(() => {});
      return;
    }
    if (outcome === begunOutcome) return;
    // The call has had its effects by now: that its end could not be written is in the log.
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
