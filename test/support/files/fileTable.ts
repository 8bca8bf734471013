/** A kind of file that the command believes. */
interface FileRow {
  readonly file: string;
  /** What becomes of one of another user, or that others can write to. */
  readonly believed: 'refused' | 'a warning';
  /** What becomes of one that others can read. */
  readonly read: string;
}

const taken = 'accepted';

/** Every kind of file that others could have planted: the tests take their rows from here, and so does `abuse.md`. */
export const fileTable = {
  runDirectory: { file: 'a run directory', believed: 'refused', read: taken },
  state: { file: 'a file in a run directory', believed: 'refused', read: taken },
  token: { file: 'a token file', believed: 'refused', read: 'a warning' },
  accountKey: { file: "a service account's key file", believed: 'refused', read: 'a warning' },
  backup: { file: 'a backup to restore', believed: 'refused', read: 'a warning' },
  backupKey: { file: 'the master key of `restore --key`', believed: 'refused', read: 'a warning' },
  dataDirectory: { file: 'a data directory', believed: 'refused', read: taken },
  database: { file: 'a database', believed: 'refused', read: 'mended, with a line in the log' },
  masterKey: { file: '`master.key`', believed: 'refused', read: 'mended, with a line in the log' },
  export: { file: 'an export file', believed: 'a warning', read: taken },
} as const satisfies Readonly<Record<string, FileRow>>;

/** The name of a row. */
export type FileName = keyof typeof fileTable;

const HEAD = ['file', "another user's, behind a link of theirs, or writable by others", 'readable by others'];

/** The table in Markdown. */
export function fileRows(): string {
  const rows = Object.values(fileTable).map(({ file, believed, read }) => [file, believed, read]);
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
