import {
  closeSync,
  existsSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { OWNER_ONLY, syncDirectory } from '../../durableFiles.ts';

/** The file that takes new events. */
const CURRENT = 'audit.ndjson';
const ROTATED = /^audit-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.ndjson$/;

/** Returns the path of the file that takes new events. */
export function currentFile(directory: string): string {
  return join(directory, CURRENT);
}

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

/** Opens a file that only its owner can read. */
export function openOwnerOnly(file: string, flags: string): number {
  const descriptor = openSync(file, flags, OWNER_ONLY);
  if ((fstatSync(descriptor).mode & 0o777) !== OWNER_ONLY) fchmodSync(descriptor, OWNER_ONLY);
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

const syncData = promisify(fdatasync);

/** The limits of a trail's file. */
export interface FileLimits {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** The open file that takes a trail's events. All but `sync` and `close` require the trail's lock. */
export class OpenFile {
  readonly path: string;
  private readonly descriptor: number;
  private readonly inode: number;
  private since: Date | undefined;

  /** @throws Error of the file system */
  constructor(path: string) {
    this.path = path;
    const isNew = !existsSync(path);
    this.descriptor = openOwnerOnly(path, 'a+');
    if (isNew) syncDirectory(dirname(path));
    this.inode = fstatSync(this.descriptor).ino;
    this.since = firstTime(this.descriptor);
  }

  /** Whether another process has not renamed or deleted the file. */
  isCurrent(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === this.inode;
  }

  /** Whether the file is too large for `bytes` more, or its first event too old. */
  isFull(bytes: number, now: Date, { maxBytes, maxAgeMs }: FileLimits): boolean {
    const { size } = fstatSync(this.descriptor);
    if (size === 0) return false;
    return size + bytes > maxBytes || (this.since !== undefined && now.getTime() - this.since.getTime() > maxAgeMs);
  }

  /**
   * Appends lines, all or none. They start a line of their own, also after a torn one.
   * @throws Error of the file system
   */
  append(lines: string): void {
    const { size } = fstatSync(this.descriptor);
    const bytes = Buffer.from(endsWithLine(this.descriptor, size) ? lines : `\n${lines}`);
    try {
      for (let start = 0; start < bytes.length; ) start += writeSync(this.descriptor, bytes, start);
    } catch (error) {
      ftruncateSync(this.descriptor, size);
      throw error;
    }
    this.since ??= firstTime(this.descriptor);
  }

  /** Makes the appended lines durable, also if another process has renamed the file since. */
  sync(): Promise<void> {
    return syncData(this.descriptor);
  }

  /** Gives the file a name of its own, and closes it. */
  rotate(now: Date): void {
    const directory = dirname(this.path);
    let time = now.getTime();
    while (existsSync(join(directory, rotatedName(new Date(time))))) time++;
    renameSync(this.path, join(directory, rotatedName(new Date(time))));
    syncDirectory(directory);
    this.close();
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
