import { closeSync, existsSync, fdatasync, fstatSync, ftruncateSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory } from '../../durableFiles.ts';
import { endsWithLine, firstTime, openOwnerOnly, rotatedName } from './trailFiles.ts';

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
