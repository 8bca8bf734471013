/** Returns the code of an error of the operating system, such as `ENOENT`; empty for any other reason. */
export function systemCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : '';
}

/** Returns the primary result code of an error of SQLite; undefined for any other reason. */
export function sqliteCode(reason: unknown): number | undefined {
  if (systemCode(reason) !== 'ERR_SQLITE_ERROR' || !(reason instanceof Error && 'errcode' in reason)) return undefined;
  // The low byte is the primary code; the other bytes extend it.
  return Number(reason.errcode) & 0xff;
}

/** Whether an error of the system means that a file cannot grow. */
export function isStorageFull(reason: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(systemCode(reason));
}
