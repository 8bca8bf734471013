import type { AuditEvent } from './auditEvent.ts';

const WINDOW_MS = 60_000;
/** The most denied calls with a line of their own in a minute. Strangers can cause any number. */
const MAX_DISTINCT = 10;

/**
 * Writes denied calls so that strangers cannot fill the disk. In each minute, the first ten that differ in event, error,
 * caller or address are written at once. Equal ones are counted, and all others are counted by event; the counts are
 * written at the end of the minute.
 */
export class DeniedCalls {
  private readonly append: (event: AuditEvent) => Promise<void>;
  private readonly now: () => Date;
  private counted = new Map<string, { readonly event: AuditEvent; repeated: number }>();
  private distinct = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly pending = new Set<Promise<void>>();

  /** @param append logs what it cannot write */
  constructor(append: (event: AuditEvent) => Promise<void>, now: () => Date) {
    this.append = append;
    this.now = now;
  }

  /** Writes or counts a denied call. */
  add(denied: AuditEvent): void {
    this.timer ??= setTimeout(() => this.endWindow(), WINDOW_MS).unref();
    const { time, event, outcome, tokenId, remote } = denied;
    const own = JSON.stringify([event, outcome, tokenId, remote]);
    if (!this.counted.has(own) && this.distinct < MAX_DISTINCT) {
      this.distinct++;
      this.counted.set(own, { event: denied, repeated: 0 });
      this.write(denied);
      return;
    }
    const key = this.counted.has(own) ? own : JSON.stringify([event, outcome]);
    const counted = this.counted.get(key) ?? { event: { time, event, outcome }, repeated: 0 };
    counted.repeated++;
    this.counted.set(key, counted);
  }

  /** Writes the counts, and starts over. */
  private endWindow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const repeated = [...this.counted.values()].filter((counted) => counted.repeated > 0);
    this.counted.clear();
    this.distinct = 0;
    const time = this.now().toISOString();
    for (const counted of repeated) this.write({ ...counted.event, time, repeated: counted.repeated });
  }

  private write(event: AuditEvent): void {
    const writing = this.append(event)
      .catch(() => {})
      .finally(() => this.pending.delete(writing));
    this.pending.add(writing);
  }

  /** Writes what is counted, and waits until all is written. */
  async close(): Promise<void> {
    this.endWindow();
    await Promise.all(this.pending);
  }
}
