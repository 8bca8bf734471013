/** Returns the code of an operating system error, such as `ENOENT`; empty for any other value. */
export function systemCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : '';
}

/** Returns SQLite's primary result code from an error of SQLite; undefined for any other value. */
export function sqliteCode(reason: unknown): number | undefined {
  const code = extendedCode(reason);
  // The lowest byte contains the primary code, the other bytes the details.
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(reason: unknown): number | undefined {
  if (systemCode(reason) !== 'ERR_SQLITE_ERROR' || !(reason instanceof Error && 'errcode' in reason)) return undefined;
  return Number(reason.errcode);
}

/** Returns whether the operating system reports that a file cannot grow. */
export function isStorageFull(reason: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(systemCode(reason));
}

const SQLITE_FULL = 13;
/** SQLite's result code for a failed write, for example beyond a quota or the maximum size of a file. */
const SQLITE_IOERR_WRITE = 778;

export function isDatabaseFull(reason: unknown): boolean {
  return [SQLITE_FULL, SQLITE_IOERR_WRITE].includes(extendedCode(reason) ?? 0);
}

/**
 * Converts SQLite's error about a full disk to an operating system error that contains the path. Returns other errors
 * unchanged.
 */
export function withFullPath(reason: unknown, path: string): unknown {
  if (!isDatabaseFull(reason)) return reason;
  return Object.assign(new Error(`ENOSPC: no space left, ${path}`, { cause: reason }), { code: 'ENOSPC', path });
}
