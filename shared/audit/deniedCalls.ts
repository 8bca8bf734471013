import type { AuditEvent } from './auditEvent.ts';

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
