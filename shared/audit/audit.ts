import { shuttingDown } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { log } from '../log.ts';
import type { AuditEvent, AuditFacts, AuditTrail, Identity, Origin } from './auditEvent.ts';

/** The events of the operations. A removal has one line: its success is on record before its commit. */
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

/** An operation whose calls are on record. */
type AuditedOperation = keyof typeof operationEvents;

/** Puts calls on record in a trail. */
export class Audit {
  private readonly trail: AuditTrail;
  private readonly denied: DeniedCalls;
  private readonly sink: AuditSink;

  constructor(trail: AuditTrail, now: () => Date = () => new Date()) {
    this.trail = trail;
    const appendOrLog = async (event: AuditEvent) => {
      await trail.append(event).catch((error: unknown) => log.auditFailed(error, event));
    };
    this.denied = new DeniedCalls(appendOrLog, now);
    this.sink = {
      now,
      append: async (event) => {
        await trail.append(event).catch((error: unknown) => {
          log.auditFailed(error, event);
          throw error;
        });
      },
      appendOrLog,
      countDenied: (event) => this.denied.add(event),
      open: new Set(),
    };
  }

  /** Creates the record of an operation's call, which begins later. */
  call(operation: AuditedOperation, origin: Origin): AuditedCall {
    return new AuditedCall(this.sink, operationEvents[operation], origin);
  }

  /** Creates the record of a command, such as `pat create`. */
  command(name: string): AuditedCall {
    const event = commandEvent(name);
    return new AuditedCall(this.sink, { begun: event, begunOutcome: 'started', ended: event }, {});
  }

  /** Ends the calls that are still running at the end of the process, writes what is counted, and closes the trail. */
  async close(): Promise<void> {
    await Promise.all([...this.sink.open].map((call) => call.end(shuttingDown())));
    await this.denied.close();
    await this.trail.close();
  }
}

/** Returns the event of a command: `command.patCreate` for `pat create`. */
export function commandEvent(name: string): string {
  const camelCase = name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `command.${camelCase}`;
}

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

const WINDOW_MS = 60_000;
/** The most denied calls with a line of their own in a minute. Strangers can cause any number. */
const MAX_DISTINCT = 10;

interface Counted {
  readonly event: AuditEvent;
  repeated: number;
}

/**
 * Writes denied calls so that strangers cannot fill the disk. In each minute, the first ten that differ in event, error,
 * caller or address are written at once. Equal ones are counted, and all others are counted by event; the counts are
 * written at the end of the minute.
 */
export class DeniedCalls {
  private readonly append: (event: AuditEvent) => Promise<void>;
  private readonly now: () => Date;
  private distinct = new Map<string, Counted>();
  private others = new Map<string, Counted>();
  private timer: NodeJS.Timeout | undefined;
  private readonly pending = new Set<Promise<void>>();

  /** @param append never rejects */
  constructor(append: (event: AuditEvent) => Promise<void>, now: () => Date) {
    this.append = append;
    this.now = now;
  }

  /** Writes or counts a denied call. */
  add(event: AuditEvent): void {
    this.timer ??= setTimeout(() => this.endWindow(), WINDOW_MS).unref();
    const key = JSON.stringify([event.event, event.outcome, event.tokenId, event.remote]);
    const known = this.distinct.get(key);
    if (known !== undefined) {
      known.repeated++;
    } else if (this.distinct.size < MAX_DISTINCT) {
      this.distinct.set(key, { event, repeated: 0 });
      this.write(event);
    } else {
      this.countOther(event);
    }
  }

  private countOther({ event, outcome, time }: AuditEvent): void {
    const key = JSON.stringify([event, outcome]);
    const counted = this.others.get(key) ?? { event: { time, event, outcome }, repeated: 0 };
    counted.repeated++;
    this.others.set(key, counted);
  }

  /** Writes the counts, and starts over. */
  private endWindow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const counted = [...this.distinct.values(), ...this.others.values()].filter(({ repeated }) => repeated > 0);
    this.distinct = new Map();
    this.others = new Map();
    const time = this.now().toISOString();
    for (const { event, repeated } of counted) this.write({ ...event, time, repeated });
  }

  private write(event: AuditEvent): void {
    const writing = this.append(event).finally(() => this.pending.delete(writing));
    this.pending.add(writing);
  }

  /** Writes what is counted, and waits until all is written. */
  async close(): Promise<void> {
    this.endWindow();
    await Promise.all(this.pending);
  }
}
