import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY, syncDirectory } from '../../durableFiles.ts';
import { checkStatus } from '../../ownFiles.ts';
import { connect, waitForLock } from '../../store/sqlite/connection.ts';

/** The file that takes new events. */
const CURRENT = 'audit.ndjson';
const ROTATED = /^audit-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.ndjson$/;

/** Returns the name of a file whose last event is not later than `time`. Names are in the order of their times. */
function rotatedName(time: Date): string {
  return `audit-${time.toISOString().replaceAll(':', '-')}.ndjson`;
}

/** Returns the time in a rotated file's name; undefined for any other name. */
export function rotationTime(name: string): Date | undefined {
  const [, day, hours, minutes, seconds] = ROTATED.exec(name) ?? [];
  return day === undefined ? undefined : new Date(`${day}T${hours}:${minutes}:${seconds}`);
}

/** Whether a file of this name belongs to a trail. */
export function isTrailFile(name: string): boolean {
  return name === CURRENT || rotationTime(name) !== undefined;
}

/** Lists the names of a trail's files, oldest events first. */
export function listTrailFiles(directory: string): readonly string[] {
  const names = readdirSync(directory);
  const rotated = names.filter((name) => rotationTime(name) !== undefined).toSorted();
  return names.includes(CURRENT) ? [...rotated, CURRENT] : rotated;
}

/**
 * Opens a file that only its owner can read.
 * @throws IdentityError PERMISSION_DENIED for one that others could have written; Error of the file system
 */
function openOwnerOnly(file: string, flags: string): number {
  const descriptor = openSync(file, flags, OWNER_ONLY);
  const status = fstatSync(descriptor);
  try {
    checkStatus(file, 'data', status);
    if ((status.mode & 0o777) !== OWNER_ONLY) fchmodSync(descriptor, OWNER_ONLY);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

/** Whether the file is empty or ends with a line break. A power cut can leave part of a line. */
function endsWithLine(descriptor: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last.toString() === '\n';
}

const HEAD_BYTES = 64;
const timeAtStart = z.iso.datetime();

/** Reads the time of a file's first event; undefined if there is none. */
function firstTime(descriptor: number): Date | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  readSync(descriptor, head, 0, HEAD_BYTES, 0);
  const [, time] = /^\{"time":"([^"]+)"/.exec(head.toString('latin1')) ?? [];
  const { success, data } = timeAtStart.safeParse(time);
  return success ? new Date(data) : undefined;
}

/** The limits of a trail's file. */
export interface FileLimits {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/**
 * Opens the file that takes new events, another one if the present one is too large for `bytes` more, or its first event
 * too old. Requires the trail's lock.
 * @throws Error of the file system
 */
export function openTrailFile(directory: string, bytes: number, now: Date, limits: FileLimits): OpenedFile {
  const path = join(directory, CURRENT);
  const isNew = !existsSync(path);
  const descriptor = openOwnerOnly(path, 'a+');
  if (isNew) syncDirectory(directory);
  if (!isFull(descriptor, bytes, now, limits)) return { descriptor, isRotated: false };
  closeSync(descriptor);
  let time = now.getTime();
  while (existsSync(join(directory, rotatedName(new Date(time))))) time++;
  renameSync(path, join(directory, rotatedName(new Date(time))));
  syncDirectory(directory);
  return { ...openTrailFile(directory, bytes, now, limits), isRotated: true };
}

/** The open file that takes new events. */
interface OpenedFile {
  readonly descriptor: number;
  /** Whether the file before has been given a name of its own. */
  readonly isRotated: boolean;
}

function isFull(descriptor: number, bytes: number, now: Date, { maxBytes, maxAgeMs }: FileLimits): boolean {
  const { size } = fstatSync(descriptor);
  if (size === 0) return false;
  const since = firstTime(descriptor);
  return size + bytes > maxBytes || (since !== undefined && now.getTime() - since.getTime() > maxAgeMs);
}

/**
 * Appends lines, all or none. They start a line of their own, also after a torn one. Requires the trail's lock.
 * @throws Error of the file system
 */
export function appendLines(descriptor: number, lines: string): void {
  const { size } = fstatSync(descriptor);
  const bytes = Buffer.from(endsWithLine(descriptor, size) ? lines : `\n${lines}`);
  try {
    for (let start = 0; start < bytes.length; ) start += writeSync(descriptor, bytes, start);
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  }
}

/** The lock of a trail between processes. The operating system releases it when a process dies. */
export interface TrailLock {
  /**
   * Does some work while no other process appends, rotates or deletes.
   * @throws Error of SQLite when another process keeps the lock for seconds
   */
  hold<Result>(work: () => Result): Promise<Result>;
  close(): void;
}

const LOCK = 'audit.lock';

/** Opens the lock of a trail. It is a database without tables: Node has no other lock between processes. */
export function openTrailLock(directory: string): TrailLock {
  const file = join(directory, LOCK);
  if (!existsSync(file)) createLock(file);
  const connection = connect({ file, busyTimeout: 0 });
  return {
    async hold(work) {
      await waitForLock(connection);
      try {
        return work();
      } finally {
        // A commit would fail while other processes try to lock.
        connection.execute('ROLLBACK');
      }
    },
    close: () => connection.close(),
  };
}

/** Does one piece of work while no process appends, rotates or deletes. */
export async function holdTrail<Result>(directory: string, work: () => Result): Promise<Result> {
  const lock = openTrailLock(directory);
  try {
    return await lock.hold(work);
  } finally {
    lock.close();
  }
}

/**
 * Creates the database of a lock with its first page, before it gets its name: without the page, each transaction would
 * write it, which a full disk prevents.
 */
function createLock(file: string): void {
  const partial = `${file}.${randomUUID()}`;
  closeSync(openOwnerOnly(partial, 'wx'));
  try {
    const connection = connect({ file: partial, busyTimeout: 0 });
    connection.execute('PRAGMA user_version = 1');
    connection.close();
    linkSync(partial, file);
  } catch (error) {
    // Another process has created it meanwhile.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(partial, { force: true });
  }
}
