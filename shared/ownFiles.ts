// Checks that only the owner of this process can read or change a file.

import { lstatSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileNotOwn } from './errors/commandErrors.ts';
import { decodeText } from './json/utf8Text.ts';

/** The ways in which other users can access a file, and the remedies. */
const exposures = {
  link: (path: string) => `${path} is a symbolic link, or its path contains a symbolic link: specify the real path`,
  foreign: (path: string) => `${path} belongs to another user: run the command as that user, or change it with chown`,
  written: (path: string) => `others can change ${path}: run chmod go-w ${path}`,
  read: (path: string) => `others can read ${path}: run chmod 600 ${path}`,
};

type ExposureRule = Readonly<Partial<Record<keyof typeof exposures, 'refused' | 'reported'>>>;

const refused: ExposureRule = { link: 'refused', foreign: 'refused', written: 'refused' };

/** The kinds of trusted files, and what to do if other users can access them. */
const rules = {
  /** A data directory, its database and master key. If other users can read them, this process corrects their mode. */
  data: refused,
  /** A file with a token, a key or a backup. */
  secret: { ...refused, read: 'reported' },
  /** A file of organisations. The importing user is responsible for its content. */
  export: { link: 'reported', foreign: 'reported', written: 'reported' },
  /** A file of organisations that the user asks to check. */
  examined: { link: 'reported', foreign: 'reported', written: 'reported', read: 'reported' },
} as const satisfies Readonly<Record<string, ExposureRule>>;

export type FileKind = keyof typeof rules;

/**
 * Checks whether other users could have written or read a file or directory, before its content is trusted.
 * @param report receives a problem that the rule of the kind reports instead of refusing the file
 * @throws IdentityError PERMISSION_DENIED; Error of the file system, ENOENT for a missing file
 */
export function checkOwn(path: string, kind: FileKind, report?: (problem: string) => void): void {
  checkStatus(path, kind, statSync(path), report);
}

/**
 * Checks a file as `checkOwn` does, by a status that the caller has read. With the status of an open descriptor, the
 * file cannot be replaced after the check.
 */
export function checkStatus(path: string, kind: FileKind, status: Stats, report?: (problem: string) => void): void {
  const exposure = findExposure(path, status);
  if (exposure === undefined) return;
  const rule: ExposureRule = rules[kind];
  const problem = exposures[exposure](path);
  if (rule[exposure] === 'refused') throw fileNotOwn({ problem });
  if (rule[exposure] === 'reported') report?.(problem);
}

/**
 * Reads a file with a secret after checking the opened descriptor.
 * @throws the errors of `checkOwn`
 */
export async function readOwnSecret(path: string, report: (problem: string) => void): Promise<string> {
  // Check the path before opening it: opening a pipe would wait for its other end.
  const status = await stat(path);
  if (status.isDirectory()) throw Object.assign(new Error(`${path} is a directory`), { code: 'EISDIR', path });
  checkStatus(path, 'secret', status);
  await using file = await open(path);
  checkStatus(path, 'secret', await file.stat(), report);
  return decodeText(await file.readFile());
}

function findExposure(path: string, status: Stats): keyof typeof exposures | undefined {
  const isForeign = ({ uid }: Stats) => uid !== 0 && uid !== process.geteuid?.();
  for (let part = resolve(path); part !== dirname(part); part = dirname(part)) {
    const link = lstatSync(part, { throwIfNoEntry: false });
    if (link?.isSymbolicLink() && isForeign(link)) return 'link';
  }
  // No other user can replace a terminal, or a pipe that the shell passes to the command: `<(…)` becomes /dev/fd/63.
  const isPlanted =
    status.isFile() ||
    status.isDirectory() ||
    (status.isFIFO() && !/^\/(?:dev\/(?:stdin$|fd\/)|proc\/self\/fd\/)/.test(path));
  // Windows has no such owners and modes.
  if (process.geteuid === undefined || !isPlanted) return undefined;
  if (isForeign(status)) return 'foreign';
  if ((status.mode & 0o022) !== 0) return 'written';
  return (status.mode & 0o044) === 0 ? undefined : 'read';
}
