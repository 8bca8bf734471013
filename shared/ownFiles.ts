import { lstatSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileNotOwn } from './errors/commandErrors.ts';
import { decodeText } from './json/utf8Text.ts';

const exposures = {
  link: (path: string) => `${path} is a symbolic link, or its path contains a symbolic link: specify the real path`,
  foreign: (path: string) =>
    `${path} belongs to another user: run the command as that user, or change the owner with chown`,
  written: (path: string) => `other users can change ${path}: run chmod go-w ${path}`,
  read: (path: string) => `other users can read ${path}: run chmod 600 ${path}`,
};

type ExposureRule = Readonly<Partial<Record<keyof typeof exposures, 'refused' | 'reported'>>>;

const refused: ExposureRule = { link: 'refused', foreign: 'refused', written: 'refused' };

/**
 * For each kind of file, defines which exposures to other users are errors (`refused`), and which are only reported.
 * The check ignores all other exposures.
 */
const rules = {
  /**
   * A data directory with its database and master key. If other users can read the directory, the process removes their
   * permission without an error.
   */
  data: refused,
  /** A file with a token, a key or a backup. */
  secret: { ...refused, read: 'reported' },
  /** An export file to import. The user who imports it is responsible for its content, so no exposure is an error. */
  export: { link: 'reported', foreign: 'reported', written: 'reported' },
  /** An export file that the user only wants to check, so every exposure is reported. */
  examined: { link: 'reported', foreign: 'reported', written: 'reported', read: 'reported' },
} as const satisfies Readonly<Record<string, ExposureRule>>;

export type FileKind = keyof typeof rules;

/**
 * Checks whether another user could have changed or read a file or directory. Call this function before trusting the
 * content.
 * @param report receives an exposure that is not an error for this kind of file
 * @throws IdentityError PERMISSION_DENIED if an exposure is an error; Error such as ENOENT if the file system refuses
 * access
 */
export function checkOwn(path: string, kind: FileKind, report?: (problem: string) => void): void {
  checkStatus(path, kind, statSync(path), report);
}

/**
 * Does the same as `checkOwn`, but checks a status that the caller has already read. If the caller reads the status
 * from an open file, no user can replace this file after the check.
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
 * Reads a file with a secret.
 * @throws the same errors as `checkOwn`
 */
export async function readOwnSecret(path: string, report: (problem: string) => void): Promise<string> {
  // Check the path before opening the file, because opening a pipe would wait for its writer. After that, check the
  // open file, because another user may have replaced the file in between.
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
  // Skip the checks below for a terminal, and for a pipe that the shell passes to the command, as /dev/fd/63 for
  // `<(…)`. Another user cannot replace either.
  const isPlanted =
    status.isFile() ||
    status.isDirectory() ||
    (status.isFIFO() && !/^\/(?:dev\/(?:stdin$|fd\/)|proc\/self\/fd\/)/.test(path));
  // Windows lacks the owners and permissions that are checked here.
  if (process.geteuid === undefined || !isPlanted) return undefined;
  if (isForeign(status)) return 'foreign';
  if ((status.mode & 0o022) !== 0) return 'written';
  return (status.mode & 0o044) === 0 ? undefined : 'read';
}
