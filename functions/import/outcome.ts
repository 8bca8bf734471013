import type { RecordFault } from '../../shared/contract/section.ts';

/** What became of a record; `skipped` and `overwritten` are those that were there with other content. */
export type Outcome =
  | { readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'notCarried' }
  | { readonly kind: 'failed'; readonly fault: RecordFault };

/** Whether a record was written by this import. */
export function isWritten({ kind }: Outcome): boolean {
  return kind === 'created' || kind === 'overwritten';
}

/** What happens to a record that is there with other content. */
export type OnConflict = 'report' | 'skip' | 'overwrite';
