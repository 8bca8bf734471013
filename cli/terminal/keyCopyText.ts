export function keyCopyText(file: string): string {
  return `the master key is in ${file}: copy the key to another machine, because a backup cannot be restored without the key`;
}
