/** Advises the user to copy a master key, because backups do not contain it. */
export function keyCopyText(file: string): string {
  return `the master key is in ${file}: copy it to another place, because a backup cannot be restored without it`;
}
