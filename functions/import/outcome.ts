import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { ImportWarning } from './contract.ts';

/** The warnings about what a record refers to and the store does not have. */
type MissingTargets = readonly string[];

/** A written record's warnings of what it gives, changes or adds. */
interface Written {
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A record's outcome. Records `skipped` or `overwritten` existed with other content. */
export type Outcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: MissingTargets }
  | (Written & { readonly kind: 'created'; readonly warnings?: MissingTargets })
  | (Written & { readonly kind: 'overwritten'; readonly warning?: string; readonly warnings?: MissingTargets })
  | { readonly kind: 'failed'; readonly issue: RecordIssue };

/** Whether this import wrote the record. */
export function isWritten(outcome: Outcome): outcome is Extract<Outcome, { kind: 'created' | 'overwritten' }> {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}

/** A record to write, and its position in the file. */
export interface PlacedPlan {
  readonly organisation: number;
  /** The record's position among the records of its phase. */
  readonly ordinal: number;
  readonly plan: RecordPlan;
}
