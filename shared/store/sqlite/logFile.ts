import { closeSync, fdatasync, openSync, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { shareRuns } from '../../async.ts';
import type { Connection } from './connection.ts';

const syncData = promisify(fdatasync);

// The format of the file: https://www.sqlite.org/fileformat2.html#walformat
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_OFFSET = 8;
const HEADER_SALT_OFFSET = 16;
const FRAME_SALT_OFFSET = 8;
const SALT_BYTES = 8;

/**
 * The write-ahead log of an open database, read as a file. SQLite locks the database's other files only: these would lose
 * their locks when another descriptor of theirs is closed.
 */
export class LogFile {
  #descriptor: number | undefined;
  #salt: Buffer = Buffer.alloc(SALT_BYTES);
  #frames = 0;

  /**
   * @param connection a connection that has read, and stays open as long as this is in use: the last one deletes the file
   * @throws Error of the file system
   */
  constructor(connection: Connection) {
    this.#descriptor = openSync(`${connection.file}-wal`, 'r+');
  }

  /** Waits until all that was committed so far is on the disk. SQLite itself would block this thread meanwhile. */
  readonly sync: () => Promise<void> = shareRuns(async () => {
    if (this.#descriptor !== undefined) await syncData(this.#descriptor);
  });

  /** Returns the bytes that are in use. The file is larger after its content was moved into the database. */
  usedBytes(): number {
    const header = this.#read(0, HEADER_BYTES);
    if (header.byteLength < HEADER_BYTES) return 0;
    const salt = header.subarray(HEADER_SALT_OFFSET, HEADER_SALT_OFFSET + SALT_BYTES);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_OFFSET);
    if (!salt.equals(this.#salt)) {
      this.#salt = salt;
      this.#frames = 0;
    }
    this.#frames = countFrom(this.#frames, (frame) => {
      const start = HEADER_BYTES + frame * frameBytes + FRAME_SALT_OFFSET;
      return this.#read(start, SALT_BYTES).equals(salt);
    });
    return this.#frames === 0 ? 0 : HEADER_BYTES + this.#frames * frameBytes;
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    // A snapshot may outlive its store.
    if (this.#descriptor === undefined) return bytes.subarray(0, 0);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, position));
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Returns the number of frames of which `isCurrent` is true: a frame carries the salt of its log, and behind the last one
 * are those of an earlier log, or none.
 * @param known a number of frames that are known to be current
 */
function countFrom(known: number, isCurrent: (frame: number) => boolean): number {
  let count = known;
  let step = 1;
  for (; isCurrent(count + step - 1); step *= 2) count += step;
  for (; step >= 1; step /= 2) if (isCurrent(count + step - 1)) count += step;
  return count;
}
