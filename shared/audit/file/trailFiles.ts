import { fchmodSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../../durableFiles.ts';

/** The file that takes new events. */
const CURRENT = 'audit.ndjson';
const ROTATED = /^audit-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.ndjson$/;

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

/** Opens a file that only its owner can read. */
export function openOwnerOnly(file: string, flags: string): number {
  const descriptor = openSync(file, flags, OWNER_ONLY);
  if ((fstatSync(descriptor).mode & 0o777) !== OWNER_ONLY) fchmodSync(descriptor, OWNER_ONLY);
  return descriptor;
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
