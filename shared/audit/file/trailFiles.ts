import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { connect, openWriter, type Writer } from '../../store/sqlite/connection.ts';

/** The file that takes new events. */
const CURRENT = 'audit.ndjson';
const LOCK = 'audit.lock';
const ROTATED = /^audit-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.ndjson$/;
const OWNER_ONLY = 0o600;

/** Returns the path of the file that takes new events. */
export function currentFile(directory: string): string {
  return join(directory, CURRENT);
}

/** Returns the name of a file whose last event is not later than `time`. Names are in the order of their times. */
export function rotatedName(time: Date): string {
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
 * Opens the lock of a trail, which the operating system releases when a process dies. It is a database without tables:
 * Node has no other lock between processes.
 */
export function openTrailLock(directory: string): Writer {
  const file = join(directory, LOCK);
  if (!existsSync(file)) createLock(file);
  return openWriter(file);
}

/**
 * Creates the database of a lock with its first page, before it gets its name: without the page, each transaction would
 * write it, and fail while other processes try to lock.
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

/** Opens a file that only its owner can read. */
export function openOwnerOnly(file: string, flags: string): number {
  const descriptor = openSync(file, flags, OWNER_ONLY);
  if ((fstatSync(descriptor).mode & 0o777) !== OWNER_ONLY) fchmodSync(descriptor, OWNER_ONLY);
  return descriptor;
}

/** Makes the names in a directory durable. Windows does it by itself, and cannot open directories. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the file is empty or ends with a line break. A power cut can leave part of a line. */
export function endsWithLine(descriptor: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last.toString() === '\n';
}

const HEAD_BYTES = 64;
const timeAtStart = z.iso.datetime();

/** Reads the time of a file's first event; undefined if there is none. */
export function firstTime(descriptor: number): Date | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  readSync(descriptor, head, 0, HEAD_BYTES, 0);
  const [, time] = /^\{"time":"([^"]+)"/.exec(head.toString('latin1')) ?? [];
  const { success, data } = timeAtStart.safeParse(time);
  return success ? new Date(data) : undefined;
}
