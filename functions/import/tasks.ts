import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { formatDuration } from '../../shared/duration.ts';
import { taskDiffers, tasksMissing } from '../../shared/errors/placeErrors.ts';
import { type DocumentKey, type DocumentStore, documentId } from '../../shared/store/store.ts';
import type { ImportWarning } from './contract.ts';
import { agreeOnMark, readMark, saveMark } from './resume/checkpoint.ts';

/** One task of an import that several processes divide among them. */
export interface ImportTask {
  /** The task, from 0. */
  readonly index: number;
  readonly count: number;
  /** What the tasks of one start have in common, and no other start has. */
  readonly execution: string;
  /** Milliseconds after which the import is divided among the tasks that have started. */
  readonly startMs: number;
  /** Milliseconds without any sign of another task after which it counts as missing. */
  readonly patienceMs: number;
}

/** A task's share: the organisations that fall to it among those tasks that divide the import. */
export interface ImportShare {
  readonly index: number;
  /** The tasks that divide the import, in ascending order. A task that is none of them has no organisation. */
  readonly members: readonly number[];
}

/** Whether an organisation is one of a task's share. The assignment depends on its id and on the members only. */
export function isInShare({ index, members }: ImportShare, orgId: string): boolean {
  return members[Number.parseInt(hash('sha256', orgId).slice(0, 8), 16) % members.length] === index;
}

/** Whether a task counts what belongs to no organisation's share. */
export function isFirst({ index, members }: ImportShare): boolean {
  return members[0] === index;
}

const markSchema = z.object({ identity: z.string(), step: z.int(), beat: z.number() });
const membersSchema = z.array(z.int()).nonempty();

/** How far a task is, and with which import: the identity is empty until the task has read the file. */
type Mark = Pick<z.infer<typeof markSchema>, 'identity' | 'step'>;

const HEARTBEAT_MS = 10_000;
const MIN_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;
/** The step of a task that has not reached the first one. */
const NO_STEP = -1;
/** The name of the mark that holds the members. */
const MEMBERS = 'members';

/**
 * The points at which the tasks of a divided import wait for each other. The tasks that have started agree on how they
 * divide it: a platform may not run all of them at once, and waiting is billed. The records of a phase refer only to those
 * of earlier phases, so a task begins a phase when every member has completed the one before. Each task has a mark in the
 * database, which it renews to show that it is alive. A task that is started again finds its own mark, so that the others
 * need not wait for what it completed before.
 */
export class PhaseBarrier implements AsyncDisposable {
  /** What the task imports. */
  readonly share: ImportShare;
  /** Says that not all tasks divide the import, and after which wait; undefined where all do. */
  readonly warning: ImportWarning | undefined;
  private readonly marks: TaskMarks;
  private readonly signal: AbortSignal;

  private constructor(marks: TaskMarks, members: readonly number[], waitedMs: number, signal: AbortSignal) {
    this.share = { index: marks.task.index, members };
    this.warning = members.length === marks.task.count ? undefined : divided(marks.task, members, waitedMs);
    this.marks = marks;
    this.signal = signal;
  }

  /**
   * Begins the barrier of one task, before it reads the file: that may take the tasks differently long.
   * @param task undefined for an import that is not divided, which needs no barrier
   */
  static async begin(
    store: DocumentStore,
    task: ImportTask | undefined,
    signal: AbortSignal,
  ): Promise<PhaseBarrier | undefined> {
    if (task === undefined) return undefined;
    await using stack = new AsyncDisposableStack();
    const marks = stack.use(await TaskMarks.begin(store, task));
    const beganAt = performance.now();
    const members = await agreeOnMembers(marks, signal);
    stack.move();
    return new PhaseBarrier(marks, members, performance.now() - beganAt, signal);
  }

  /** Declares which import this is, by the identity that it has for all tasks. */
  identify(identity: string): void {
    this.marks.identify(hash('sha256', identity, 'base64url'));
  }

  /**
   * Declares everything before a step as complete, and waits until all other members have done so.
   * @throws IdentityError naming tasks that show no sign of life, or import something else; the signal's reason
   */
  async reach(step: number): Promise<void> {
    await this.marks.reach(step);
    const { index, members } = this.share;
    if (members.includes(index)) await this.waitForOthers(step);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.marks[Symbol.asyncDispose]();
  }

  private async waitForOthers(step: number): Promise<void> {
    const { task, identity } = this.marks;
    const others = this.share.members.filter((index) => index !== task.index);
    const waiting = new Map(others.map((index) => [index, { beat: '', seenAt: performance.now() }]));
    for await (const marks of this.marks.poll(() => [...waiting.keys()], this.signal)) {
      for (const [index, text] of marks) {
        const mark = parseMark(text);
        if (mark !== undefined && !['', identity].includes(mark.identity)) throw taskDiffers(index);
        if ((mark?.step ?? NO_STEP) >= step) waiting.delete(index);
        else if (text !== undefined && text !== waiting.get(index)?.beat)
          waiting.set(index, { beat: text, seenAt: performance.now() });
      }
      if (waiting.size === 0) return;
      const lost = [...waiting].filter(([, { seenAt }]) => performance.now() - seenAt > task.patienceMs);
      if (lost.length === 0) continue;
      const indexes = lost.map(([index]) => index);
      throw tasksMissing(indexes, task.count, formatDuration(task.patienceMs));
    }
  }
}

/**
 * Agrees on the tasks that divide the import: all, or those that have started when one of them has waited long enough.
 * The first one that decides does so for all, also for those that start later.
 */
async function agreeOnMembers(marks: TaskMarks, signal: AbortSignal): Promise<readonly number[]> {
  const { task } = marks;
  const all = Array.from({ length: task.count }, (_, index) => index);
  const deadline = performance.now() + task.startMs;
  for await (const found of marks.poll(() => all, signal)) {
    const decided = await marks.members();
    if (decided !== undefined) return decided;
    const started = found.flatMap(([index, mark]) => (mark === undefined ? [] : [index]));
    if (started.length === task.count || performance.now() >= deadline) return marks.decide(started);
  }
  throw signal.reason;
}

function divided({ index, count }: ImportTask, members: readonly number[], waitedMs: number): ImportWarning {
  const who = `the import is divided among the ${members.length} of ${count} tasks that had started: ${members.join(', ')}`;
  const waited = formatDuration(Math.round(waitedMs / 1_000) * 1_000);
  const role = members.includes(index)
    ? `this task waited ${waited} for the others`
    : 'this task came later, and has no share';
  return { type: 'task', id: String(index), message: `${who}; ${role}` };
}

/** The marks of all tasks in the database, of which one is kept alive: that of this task. */
class TaskMarks implements AsyncDisposable {
  readonly task: ImportTask;
  private readonly store: DocumentStore;
  private readonly timer: NodeJS.Timeout;
  private mark: Mark;
  /** The decision on members, as it is stored. */
  private decided: string | undefined;
  private saving: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;

  private constructor(store: DocumentStore, task: ImportTask, mark: Mark) {
    this.store = store;
    this.task = task;
    this.mark = mark;
    this.timer = setInterval(() => this.beat(), Math.min(HEARTBEAT_MS, task.patienceMs / 4));
    this.beat();
  }

  static async begin(store: DocumentStore, task: ImportTask): Promise<TaskMarks> {
    const saved = parseMark(await readMark(store, markKey(task, String(task.index)), new Date()));
    return new TaskMarks(store, task, saved ?? { identity: '', step: NO_STEP });
  }

  get identity(): string {
    return this.mark.identity;
  }

  identify(identity: string): void {
    if (this.mark.identity !== identity) this.mark = { identity, step: NO_STEP };
  }

  /** Saves that everything before a step is complete. */
  async reach(step: number): Promise<void> {
    this.mark = { ...this.mark, step: Math.max(this.mark.step, step) };
    this.beat();
    await this.saved();
  }

  /** Reads marks again and again, at growing intervals. @throws the signal's reason */
  async *poll(
    indexes: () => readonly number[],
    signal: AbortSignal,
  ): AsyncGenerator<(readonly [index: number, body: string | undefined])[]> {
    for (let waitMs = MIN_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      await this.saved();
      const read = indexes();
      const documents = await this.store.getMany(
        read.map((index) => markKey(this.task, String(index))),
        ['body'],
      );
      yield read.map((index, position) => [index, documents[position]?.body] as const);
      await setTimeout(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Returns the members that a task has decided on. */
  async members(): Promise<readonly number[] | undefined> {
    this.decided = await readMark(this.store, markKey(this.task, MEMBERS), new Date());
    return this.decided === undefined ? undefined : parseMembers(this.decided);
  }

  /** Decides on the members, unless another task has. @returns those that hold */
  async decide(members: readonly number[]): Promise<readonly number[]> {
    const body = JSON.stringify(members);
    this.decided = await agreeOnMark(this.store, markKey(this.task, MEMBERS), body, new Date());
    return parseMembers(this.decided);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    await this.saving;
  }

  private async saved(): Promise<void> {
    await this.saving;
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Saves this task's mark, and renews the decision on members, after those that are being saved. */
  private beat(): void {
    this.saving = this.saving
      .then(async () => {
        const mark = JSON.stringify({ ...this.mark, beat: Date.now() });
        await saveMark(this.store, markKey(this.task, String(this.task.index)), mark, new Date());
        if (this.decided !== undefined)
          await saveMark(this.store, markKey(this.task, MEMBERS), this.decided, new Date());
      })
      .catch((error: unknown) => {
        this.failure = { error };
      });
  }
}

function markKey({ count, execution }: ImportTask, name: string): DocumentKey {
  const digest = hash('sha256', JSON.stringify([count, execution]), 'base64url');
  return { collection: 'instance', id: documentId('checkpoint', digest, 'task', name) };
}

function parseMembers(text: string): readonly number[] {
  return membersSchema.parse(JSON.parse(text));
}

function parseMark(text: string | undefined): z.infer<typeof markSchema> | undefined {
  return text === undefined ? undefined : markSchema.parse(JSON.parse(text));
}
