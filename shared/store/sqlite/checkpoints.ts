import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { log } from '../../log.ts';
import { WorkerPool } from '../../workerPool.ts';
import type { Writer } from './writer.ts';

/** The growth of the write-ahead log after which it is moved into the database. */
const GROWTH_BYTES = 32 * 2 ** 20;
/** So few pages that the writer can wait until they are moved, and all of the database is on the disk. */
const LAST_PAGES = 256;

/** The pages of the log, and how many of them are in the database; -1 while another process moves it. */
const progressSchema = z.object({ log: z.number(), checkpointed: z.number() });

/** As much as readers allow; or all, after which the file is empty. */
type Mode = 'PASSIVE' | 'TRUNCATE';

// Without imports, so that a bundle needs no file for it.
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData);
  database.exec('PRAGMA synchronous = FULL');
  const move = (mode) => database.prepare('PRAGMA wal_checkpoint(' + mode + ')').get();
  parentPort.on('message', (mode) => parentPort.postMessage(move(mode)));
`;

/**
 * Moves the write-ahead log of a database into it, in a thread of its own, while the writer goes on. SQLite itself does so
 * within a commit, which takes a tenth of a second then; here it remains the last resort.
 */
export class Checkpoints {
  readonly #file: string;
  readonly #betweenCommits: Writer['between'];
  readonly #workers = new WorkerPool<Mode, unknown>(() => this.#start(), 1);
  #worker: Worker | undefined;
  #running: Promise<void> | undefined;
  #begunAt = 0;

  /** @param betweenCommits moves the last pages while no commit adds others, so that the next one starts the log anew */
  constructor(file: string, betweenCommits: Writer['between']) {
    this.#file = file;
    this.#betweenCommits = betweenCommits;
  }

  /**
   * Begins to move the log if it has grown enough since the last time, or has exceeded its limit: then no snapshot needs it
   * any more.
   */
  afterCommit(logBytes: number, isOverLimit: boolean): void {
    if (logBytes < this.#begunAt) this.#begunAt = 0;
    if (this.#running !== undefined || (!isOverLimit && logBytes < this.#begunAt + GROWTH_BYTES)) return;
    this.#begunAt = logBytes;
    this.#running = this.#run(isOverLimit).finally(() => {
      this.#running = undefined;
    });
  }

  async #run(isOverLimit: boolean): Promise<void> {
    try {
      if (isOverLimit) await this.#betweenCommits(() => this.#move('TRUNCATE'));
      else if (await this.#moveMost()) await this.#betweenCommits(() => this.#move('PASSIVE'));
    } catch (error) {
      log.checkpointFailed(error);
      await this.#stop();
    }
  }

  /** Moves the log until little is left; returns false if a snapshot needs the rest. */
  async #moveMost(): Promise<boolean> {
    for (let before = -1; ; ) {
      const { log: pages, checkpointed } = await this.#move('PASSIVE');
      if (pages - checkpointed <= LAST_PAGES) return true;
      if (checkpointed <= before) return false;
      before = checkpointed;
    }
  }

  async #move(mode: Mode): Promise<z.infer<typeof progressSchema>> {
    return progressSchema.parse(await this.#workers.run(mode));
  }

  #start(): Worker {
    this.#worker = new Worker(program, { eval: true, workerData: this.#file });
    return this.#worker;
  }

  async #stop(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#stop();
  }
}
