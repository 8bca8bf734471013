import type { ImportEvent, ImportProgress } from '../contract.ts';

/** Builds the last event; its line has at most `maxBytes`. */
export type LastLine = (maxBytes: number) => string;

/** The least time between two events of one phase. */
const MIN_INTERVAL_MS = 1_000;
/**
 * The greatest part of an import's time between two events. It bounds their number in an hour to about a thousand, and so
 * their size.
 */
const MAX_PART = 1 / 300;

/** The events of one import, as the lines of its response. Nothing waits for their reader. */
export class ProgressEvents {
  private readonly start = performance.now();
  private readonly beginning = Promise.withResolvers<void>();
  private readonly added: string[] = [];
  private read: (() => ImportProgress) | undefined;
  private wake = () => {};

  /** Resolves once there are events: the file is valid, and the call on record. */
  get begun(): Promise<void> {
    return this.beginning.promise;
  }

  /** @param read reads the progress at any later moment */
  begin(read: () => ImportProgress): void {
    this.read = read;
    this.beginning.resolve();
  }

  /** Adds an event about the progress so far. */
  addProgress(): void {
    this.added.push(this.progressLine());
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
    const ending: { line?: LastLine } = {};
    void last.then((line) => {
      ending.line = line;
      this.wake();
    });
    for (;;) {
      for (const line of this.added.splice(0)) yield encode(line);
      if (ending.line !== undefined && this.added.length === 0) break;
      if (ending.line === undefined && !(await this.isWokenInTime())) yield encode(this.progressLine());
    }
    yield encode(ending.line(room - 1));
  }

  /** Waits for the next event, the end, or the time of the next event. */
  private async isWokenInTime(): Promise<boolean> {
    if (this.added.length > 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.wake = () => resolve(true);
    const elapsed = performance.now() - this.start;
    const timer = setTimeout(() => resolve(false), Math.max(MIN_INTERVAL_MS, elapsed * MAX_PART));
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
