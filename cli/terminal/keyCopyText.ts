/** Returns the advice to copy a master key, which backups do not contain. */
export function keyCopyText(file: string): string {
  return `the master key is in ${file}: copy it to another place, because a backup cannot be restored without it`;
}
