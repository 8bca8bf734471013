// The write-ahead log of a SQLite file: its size, durability and checkpoints.

import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { shareRuns } from '../../async.ts';
import { log } from '../../log.ts';
import { WorkerPool } from '../../workerPool.ts';
import type { SqliteConnection } from './sqliteConnection.ts';
import type { Writer } from './writer.ts';

const syncData = promisify(fdatasync);

/**
 * The write-ahead log of an open database, read as a file. This is safe only for the log: closing another descriptor of
 * the database's other files would release SQLite's locks.
 */
export class LogFile {
  private descriptor: number | undefined;

  /**
   * @param connection a connection that has already read. It must stay open while this object is in use, because
   * closing the last connection deletes the log
   * @throws Error of the file system
   */
  constructor(connection: SqliteConnection) {
    this.descriptor = openSync(`${connection.file}-wal`, 'r+');
  }

  /** Waits until all earlier commits are on the disk. SQLite itself would block the main thread. */
  readonly sync: () => Promise<void> = shareRuns(async () => {
    if (this.descriptor !== undefined) await syncData(this.descriptor);
  });

  /**
   * Returns the size of the file. After the content was moved into the database, SQLite shortens the file to a few
   * megabytes at the next commit. So the size of the file is close to the size of the content in use.
   */
  size(): number {
    // The store may already have closed the file, because a snapshot may be closed after the store.
    return this.descriptor === undefined ? 0 : fstatSync(this.descriptor).size;
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

/** The growth of the write-ahead log after which its content is moved into the database. */
const GROWTH_BYTES = 32 * 2 ** 20;
/** The number of pages that can be moved and synced while the writer waits. */
const LAST_PAGES = 256;

/**
 * The number of pages in the log, and how many of these pages are in the database. Both are -1 while another process
 * moves the pages.
 */
const progressSchema = z.object({ log: z.number(), checkpointed: z.number() });

/**
 * The modes of a checkpoint: `PASSIVE` moves as much as readers allow, `TRUNCATE` moves everything and empties the
 * file.
 */
type Mode = 'PASSIVE' | 'TRUNCATE';

// The worker's program is a text without imports, so that a bundle needs no separate file.
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData);
  database.exec('PRAGMA synchronous = FULL');
  const move = (mode) => database.prepare('PRAGMA wal_checkpoint(' + mode + ')').get();
  parentPort.on('message', (mode) => parentPort.postMessage(move(mode)));
`;

/**
 * Moves the write-ahead log into the database in a worker thread, while the writer continues. If the log still exceeds
 * `CHECKPOINT_PAGES`, SQLite itself moves it within a commit, which then takes a tenth of a second.
 */
export class Checkpoints {
  private readonly file: string;
  private readonly betweenCommits: Writer['between'];
  private readonly workers = new WorkerPool<Mode, unknown>(() => this.start(), 1);
  private worker: Worker | undefined;
  private running: Promise<void> | undefined;
  private begunAt = 0;

  /**
   * @param betweenCommits a function that runs work while no commit adds pages to the log. Once all pages are moved,
   * the next commit reuses the log from its start.
   */
  constructor(file: string, betweenCommits: Writer['between']) {
    this.file = file;
    this.betweenCommits = betweenCommits;
  }

  /**
   * Starts to move the log if it has grown enough since the last time, or if it exceeds its limit. If it exceeds its
   * limit, all snapshots have ended, so none of them needs the log.
   */
  afterCommit(logBytes: number, isOverLimit: boolean): void {
    if (logBytes < this.begunAt) this.begunAt = 0;
    if (this.running !== undefined || (!isOverLimit && logBytes < this.begunAt + GROWTH_BYTES)) return;
    this.begunAt = logBytes;
    this.running = this.run(isOverLimit).finally(() => {
      this.running = undefined;
    });
  }

  private async run(isOverLimit: boolean): Promise<void> {
    try {
      if (isOverLimit) await this.betweenCommits(() => this.move('TRUNCATE'));
      else if (await this.moveMost()) await this.betweenCommits(() => this.move('PASSIVE'));
    } catch (error) {
      log.warn({ stack_trace: error }, 'the write-ahead log was not moved into the database');
      await this.stop();
    }
  }

  /** Moves the log until few pages remain; returns false if a snapshot needs the rest. */
  private async moveMost(): Promise<boolean> {
    for (let before = -1; ; ) {
      const { log: pages, checkpointed } = await this.move('PASSIVE');
      if (pages - checkpointed <= LAST_PAGES) return true;
      if (checkpointed <= before) return false;
      before = checkpointed;
    }
  }

  private async move(mode: Mode): Promise<z.infer<typeof progressSchema>> {
    return progressSchema.parse(await this.workers.run(mode));
  }

  private start(): Worker {
    this.worker = new Worker(program, { eval: true, workerData: this.file });
    return this.worker;
  }

  private async stop(): Promise<void> {
    await this.worker?.terminate();
    this.worker = undefined;
  }

  async close(): Promise<void> {
    await this.running;
    await this.stop();
  }
}
