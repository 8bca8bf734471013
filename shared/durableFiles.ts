import { closeSync, fsyncSync, openSync } from 'node:fs';

/** The mode of files with secrets or personal data. */
export const OWNER_ONLY = 0o600;

/** Makes the names in a directory durable. Windows does it by itself, and cannot open directories. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
