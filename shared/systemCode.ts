/** Returns the code of an error of the operating system, such as `ENOENT`; empty for any other reason. */
export function systemCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : '';
}

/** Whether an error of the system means that a file cannot grow. */
export function isStorageFull(reason: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(systemCode(reason));
}
