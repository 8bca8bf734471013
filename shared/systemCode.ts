/** Returns the code of an error of the operating system, such as `ENOENT`; empty for any other reason. */
export function systemCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : '';
}

/** Returns the primary result code of an error of SQLite; undefined for any other reason. */
export function sqliteCode(reason: unknown): number | undefined {
  const code = extendedCode(reason);
  // The low byte is the primary code; the other bytes extend it.
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(reason: unknown): number | undefined {
  if (systemCode(reason) !== 'ERR_SQLITE_ERROR' || !(reason instanceof Error && 'errcode' in reason)) return undefined;
  return Number(reason.errcode);
}

/** Whether an error of the system means that a file cannot grow. */
export function isStorageFull(reason: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(systemCode(reason));
}

const SQLITE_FULL = 13;
/** SQLite's code for a failed write, for example beyond a quota or the maximum size of a file. */
const SQLITE_IOERR_WRITE = 778;

/** Whether an error of SQLite means that one of its files cannot grow. */
export function isDatabaseFull(reason: unknown): boolean {
  return [SQLITE_FULL, SQLITE_IOERR_WRITE].includes(extendedCode(reason) ?? 0);
}

/** Converts SQLite's error for a full disk to an error of the system with the path. Returns other errors unchanged. */
export function withFullPath(reason: unknown, path: string): unknown {
  if (!isDatabaseFull(reason)) return reason;
  return Object.assign(new Error(`ENOSPC: no space left, ${path}`, { cause: reason }), { code: 'ENOSPC', path });
}
