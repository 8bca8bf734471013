import type { AuditEvent } from './auditEvent.ts';

const WINDOW_MS = 60_000;
/** The most denied calls with a line of their own in a minute, of each token and of all strangers, who can cause any number. */
const MAX_DISTINCT = 10;

/**
 * Writes denied calls so that strangers can neither fill the disk nor hide whom a token proves. In each minute, the first
 * ten of each token, and of all callers without one, that differ in event, error or address are written at once. Equal
 * ones are counted, and all others are counted by event, error and token; the counts are written at the minute's end.
 */
export class DeniedCalls {
  private readonly append: (event: AuditEvent) => Promise<void>;
  private readonly now: () => Date;
  private counted = new Map<string, { readonly event: AuditEvent; repeated: number }>();
  private readonly lines = new Map<string | undefined, number>();
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
    const { time, event, outcome, userId, tokenId, remote } = denied;
    const own = JSON.stringify([event, outcome, tokenId, remote]);
    const lines = this.lines.get(tokenId) ?? 0;
    if (!this.counted.has(own) && lines < MAX_DISTINCT) {
      this.lines.set(tokenId, lines + 1);
      this.counted.set(own, { event: denied, repeated: 0 });
      this.write(denied);
      return;
    }
    const key = this.counted.has(own) ? own : JSON.stringify([event, outcome, tokenId]);
    const counted = this.counted.get(key) ?? { event: { time, event, outcome, userId, tokenId }, repeated: 0 };
    counted.repeated++;
    this.counted.set(key, counted);
  }

  /** Writes the counts, and starts over. */
  private endWindow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const counted = [...this.counted.values()];
    this.counted.clear();
    this.lines.clear();
    for (const { event, repeated } of counted)
      if (repeated > 0) this.write({ ...event, time: this.now().toISOString(), repeated });
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
