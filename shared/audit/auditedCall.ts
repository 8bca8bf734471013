import { IdentityError } from '../errors/identityError.ts';
import type { AuditEvent, AuditFacts, Identity, Origin } from './auditEvent.ts';

/** The names of a call's events. */
export interface CallEvents {
  /** The event before the call's first effect. */
  readonly begun: string;
  /** The outcome in that event: of a call whose success has no event of its own, it is `ok`. */
  readonly begunOutcome: 'started' | 'ok';
  /** The event at the end; an error's only, if the success is on record already. */
  readonly ended: string;
  /** The event of a call that is denied before it begins. */
  readonly denied?: string;
}

/** What a call writes its events to. */
export interface AuditSink {
  now(): Date;
  /** @throws IdentityError UNAVAILABLE when the event cannot be written */
  append(event: AuditEvent): Promise<void>;
  /** Appends an event, or logs that it cannot be written. */
  appendOrLog(event: AuditEvent): Promise<void>;
  /** Counts an event, of which strangers could cause any number. */
  countDenied(event: AuditEvent): void;
  /** The calls that have begun and not ended. */
  readonly open: Set<AuditedCall>;
}

/** Facts that are known at the end only. `isComplete` says whether the call succeeded. */
type LateFacts = (isComplete: boolean) => AuditFacts;

/** One call on record: an event before its first effect, and one at its end, whatever ends it. */
export class AuditedCall {
  private readonly sink: AuditSink;
  private readonly events: CallEvents;
  private readonly origin: Origin;
  private who: Partial<Identity> = {};
  private facts: AuditFacts = {};
  private late: LateFacts = () => ({});
  private beginning: Promise<void> | undefined;
  private hasBegun = false;
  private ending: Promise<void> | undefined;

  constructor(sink: AuditSink, events: CallEvents, origin: Origin) {
    this.sink = sink;
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

  private async appendBegun(facts: AuditFacts, late: LateFacts): Promise<void> {
    this.facts = facts;
    this.late = late;
    await this.sink.append(this.event(this.events.begun, this.events.begunOutcome, {}));
    this.hasBegun = true;
    this.sink.open.add(this);
  }

  /**
   * Puts the end on record, once. A call that is denied before it begins is counted, and one that fails otherwise before
   * has no event, since it had no effect.
   * @param error what ended the call; undefined for a success
   */
  end(error?: unknown): Promise<void> {
    this.ending ??= this.appendEnd(error === undefined ? undefined : IdentityError.from(error));
    return this.ending;
  }

  private async appendEnd(error: IdentityError | undefined): Promise<void> {
    this.sink.open.delete(this);
    const { ended, begunOutcome, denied } = this.events;
    const outcome = error?.code ?? 'ok';
    if (this.hasBegun) {
      if (outcome !== begunOutcome)
        await this.sink.appendOrLog(this.event(ended, outcome, this.late(error === undefined)));
    } else if (denied !== undefined && isDenial(error)) {
      this.sink.countDenied(this.event(denied, outcome, {}));
    }
  }

  private event(event: string, outcome: string, late: AuditFacts): AuditEvent {
    const time = this.sink.now().toISOString();
    return { time, event, outcome, ...this.who, ...this.origin, ...this.facts, ...late };
  }
}

function isDenial(error: IdentityError | undefined): boolean {
  return error?.code === 'UNAUTHENTICATED' || error?.code === 'PERMISSION_DENIED';
}
