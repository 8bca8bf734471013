import type { ImportEvent } from '../contract.ts';

/** An import's progress at one moment. */
export type Progress = Omit<Extract<ImportEvent, { event: 'progress' }>, 'event'>;

/** Builds the last event; its line has at most `maxBytes`. */
export type LastLine = (maxBytes: number) => string;

/**
 * The greatest part of an import's time between two events. It bounds their number in an hour to about a thousand, and so
 * their size.
 */
const MAX_PART = 1 / 300;

/** The events of one import, as the lines of its response. Nothing waits for their reader. */
export class ProgressEvents {
  private readonly start = performance.now();
  private readonly intervalMs: number;
  private readonly beginning = Promise.withResolvers<void>();
  private readonly phases: string[] = [];
  private last: LastLine | undefined;
  private read: (() => Progress) | undefined;
  private wake = () => {};

  /** @param intervalMs the least time between two events of one phase */
  constructor(intervalMs = 1_000) {
    this.intervalMs = intervalMs;
  }

  /** Resolves once there are events: the file is valid, and the call on record. */
  get begun(): Promise<void> {
    return this.beginning.promise;
  }

  /** @param read reads the progress at any later moment */
  begin(read: () => Progress): void {
    this.read = read;
    this.beginning.resolve();
  }

  /** Adds an event at the start of a phase. */
  enterPhase(): void {
    this.phases.push(this.progressLine());
    this.wake();
  }

  /** Yields the lines until the last one. Progress that its reader is too slow for is not repeated. */
  async *lines(last: Promise<LastLine>, maxBytes: number): AsyncGenerator<Uint8Array> {
    let room = maxBytes;
    const encode = (line: string) => {
      const bytes = Buffer.from(`${line}\n`);
      room -= bytes.length;
      return bytes;
    };
    void last.then((line) => {
      this.last = line;
      this.wake();
    });
    for (;;) {
      for (const line of this.phases.splice(0)) yield encode(line);
      if (this.last !== undefined && this.phases.length === 0) break;
      if (this.last === undefined && !(await this.isWokenInTime())) yield encode(this.progressLine());
    }
    yield encode(this.last(room - 1));
  }

  /** Waits for the next phase, the end, or the time of the next event. */
  private async isWokenInTime(): Promise<boolean> {
    if (this.phases.length > 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.wake = () => resolve(true);
    const elapsed = performance.now() - this.start;
    const timer = setTimeout(() => resolve(false), Math.max(this.intervalMs, elapsed * MAX_PART));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  private progressLine(): string {
    if (this.read === undefined) throw new Error('progress was asked for before the import began');
    const event: ImportEvent = { event: 'progress', ...this.read() };
    return JSON.stringify(event);
  }
}
