import type { RecordFault } from '../../shared/contract/section.ts';

/** What became of a record. */
export type Outcome =
  | { readonly kind: 'created' | 'unchanged' | 'notCarried' }
  | { readonly kind: 'failed'; readonly fault: RecordFault };
