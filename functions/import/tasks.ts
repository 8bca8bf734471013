import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { taskDiffers, tasksMissing } from '../../shared/errors/placeErrors.ts';
import { type DocumentKey, type DocumentStore, documentId } from '../../shared/store/store.ts';
import { readMark, saveMark } from './resume/checkpoint.ts';

/** One task's share of an import that several processes divide among them. */
export interface ImportShare {
  /** The task, from 0. */
  readonly index: number;
  /** The number of tasks. */
  readonly count: number;
  /** What the tasks of one start have in common, and no other start has. */
  readonly execution: string;
  /** Milliseconds without any sign of another task after which it counts as missing. */
  readonly patienceMs: number;
}

/** Whether an organisation is one of a task's share. The assignment depends on its id and the number of tasks only. */
export function isInShare({ index, count }: Pick<ImportShare, 'index' | 'count'>, orgId: string): boolean {
  return Number.parseInt(hash('sha256', orgId).slice(0, 8), 16) % count === index;
}

const markSchema = z.object({ identity: z.string(), step: z.int(), beat: z.number() });

/** How far a task is, and with which import: the identity is empty until the task has read the file. */
type Mark = Pick<z.infer<typeof markSchema>, 'identity' | 'step'>;

const HEARTBEAT_MS = 10_000;
const MIN_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;
/** The step of a task that has not reached the first one. */
const NO_STEP = -1;

/**
 * The points at which the tasks of a divided import wait for each other. The records of a phase refer only to those of
 * earlier phases, so a task begins a phase when every task has completed the one before. Each task has a mark in the
 * database, which it renews to show that it is alive. A task that is started again finds its own mark, so that the others
 * need not wait for what it completed before.
 */
export class PhaseBarrier implements AsyncDisposable {
  private readonly store: DocumentStore;
  private readonly share: ImportShare;
  private readonly signal: AbortSignal;
  private readonly timer: NodeJS.Timeout;
  private mark: Mark;
  private saving: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;

  private constructor(store: DocumentStore, share: ImportShare, mark: Mark, signal: AbortSignal) {
    this.store = store;
    this.share = share;
    this.mark = mark;
    this.signal = signal;
    this.timer = setInterval(() => this.beat(), Math.min(HEARTBEAT_MS, share.patienceMs / 4));
    this.beat();
  }

  /**
   * Begins the barrier of one task, before it reads the file: that may take the tasks differently long.
   * @param share undefined for an import that is not divided, which needs no barrier
   */
  static async begin(
    store: DocumentStore,
    share: ImportShare | undefined,
    signal: AbortSignal,
  ): Promise<PhaseBarrier | undefined> {
    if (share === undefined) return undefined;
    const saved = parseMark(await readMark(store, markKey(share, share.index), new Date()));
    return new PhaseBarrier(store, share, saved ?? { identity: '', step: NO_STEP }, signal);
  }

  /** Declares which import this is, by the identity that it has for all tasks. */
  identify(identity: string): void {
    const digest = hash('sha256', identity, 'base64url');
    if (this.mark.identity !== digest) this.mark = { identity: digest, step: NO_STEP };
  }

  /**
   * Declares everything before a step as complete, and waits until all other tasks have done so.
   * @throws IdentityError naming tasks that show no sign of life, or import something else; the signal's reason
   */
  async reach(step: number): Promise<void> {
    this.mark = { ...this.mark, step: Math.max(this.mark.step, step) };
    this.beat();
    await this.saving;
    if (this.failure !== undefined) throw this.failure.error;
    await this.waitForOthers(step);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    await this.saving;
  }

  private async waitForOthers(step: number): Promise<void> {
    const waiting = new Map(this.others().map((index) => [index, { beat: '', seenAt: performance.now() }]));
    for (let waitMs = MIN_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      for (const [index, text] of await this.readMarks([...waiting.keys()])) {
        const mark = parseMark(text);
        if (mark !== undefined && !['', this.mark.identity].includes(mark.identity)) throw taskDiffers(index);
        if ((mark?.step ?? NO_STEP) >= step) waiting.delete(index);
        else if (text !== undefined && text !== waiting.get(index)?.beat)
          waiting.set(index, { beat: text, seenAt: performance.now() });
      }
      if (waiting.size === 0) return;
      const lost = [...waiting].filter(([, { seenAt }]) => performance.now() - seenAt > this.share.patienceMs);
      if (lost.length > 0)
        throw tasksMissing(
          lost.map(([index]) => index),
          this.share.count,
        );
      await setTimeout(waitMs, undefined, { signal: this.signal }).catch(() => this.signal.throwIfAborted());
    }
  }

  private others(): number[] {
    return Array.from({ length: this.share.count }, (_, index) => index).filter((index) => index !== this.share.index);
  }

  private async readMarks(indexes: readonly number[]): Promise<(readonly [number, string | undefined])[]> {
    const documents = await this.store.getMany(
      indexes.map((index) => markKey(this.share, index)),
      ['body'],
    );
    return indexes.map((index, position) => [index, documents[position]?.body] as const);
  }

  /** Saves this task's mark, after the one that is being saved. A failure is thrown at the next step. */
  private beat(): void {
    this.saving = this.saving
      .then(() => {
        const mark = JSON.stringify({ ...this.mark, beat: Date.now() });
        return saveMark(this.store, markKey(this.share, this.share.index), mark, new Date());
      })
      .catch((error: unknown) => {
        this.failure = { error };
      });
  }
}

function markKey({ count, execution }: ImportShare, index: number): DocumentKey {
  const digest = hash('sha256', JSON.stringify([count, execution]), 'base64url');
  return { collection: 'instance', id: documentId('checkpoint', digest, 'task', String(index)) };
}

function parseMark(text: string | undefined): z.infer<typeof markSchema> | undefined {
  return text === undefined ? undefined : markSchema.parse(JSON.parse(text));
}
