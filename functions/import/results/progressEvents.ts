import type { ImportEvent, ImportProgress } from '../contract.ts';

/** Builds the last event; its line has at most `maxBytes`. */
export type LastLine = (maxBytes: number) => string;

/** The minimum time between two events of one phase. */
const MIN_INTERVAL_MS = 1_000;
/**
 * The interval between events grows with the import, up to this fraction of its duration. So an import of an hour sends
 * about a thousand events.
 */
const MAX_PART = 1 / 300;

/** The events of one import, as lines of its response. The import does not wait for their reader. */
export class ProgressEvents {
  private readonly start = performance.now();
  private readonly beginning = Promise.withResolvers<void>();
  private readonly added: string[] = [];
  private read: (() => ImportProgress) | undefined;
  private wake = () => {};

  /** Resolves when the first event exists: the file is valid, and the audit trail contains the call. */
  get begun(): Promise<void> {
    return this.beginning.promise;
  }

  /** @param read reads the progress at any later time */
  begin(read: () => ImportProgress): void {
    this.read = read;
    this.beginning.resolve();
  }

  /** Adds an event about the progress so far. */
  addProgress(): void {
    this.added.push(this.progressLine());
    this.wake();
  }

  /** Yields the lines up to the last event. Sends fewer progress events to a slow reader. */
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

  /** Waits until there is a next event, the import ends, or a progress event is due. */
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
    if (this.read === undefined) throw new Error('progress was requested before the import began');
    const event: ImportEvent = { event: 'progress', ...this.read() };
    return JSON.stringify(event);
  }
}
