import type { ImportEvent, ImportProgress } from '../contract.ts';

/** Builds the last event of a response, as a line of at most `maxBytes` bytes. */
export type LastLine = (maxBytes: number) => string;

const MIN_INTERVAL_MS = 1_000;
/**
 * The interval between progress events grows with the elapsed time: it is this fraction of the elapsed time. So an
 * import of an hour sends about a thousand events.
 */
const MAX_PART = 1 / 300;

/** The events of one import, as lines of its response. A client that reads slowly does not delay the import. */
export class ProgressEvents {
  private readonly start = performance.now();
  private readonly beginning = Promise.withResolvers<void>();
  private readonly added: string[] = [];
  private read: (() => ImportProgress) | undefined;
  private wake = () => {};

  /**
   * Resolves when the import has validated the file and the audit trail has recorded the start of the call. The
   * response can then begin with the first event.
   */
  get begun(): Promise<void> {
    return this.beginning.promise;
  }

  begin(read: () => ImportProgress): void {
    this.read = read;
    this.beginning.resolve();
  }

  addProgress(): void {
    this.added.push(this.progressLine());
    this.wake();
  }

  /** Yields the events as lines. A client that reads slowly receives fewer progress events. */
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

  /**
   * Waits for an event or the end of the import, but at most until a progress event is due. Returns false if the
   * progress event is due.
   */
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
