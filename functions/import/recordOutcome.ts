// The outcomes of imported records.

import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/section.ts';
import type { RecordWarning } from '../../shared/organisation/warnings.ts';
import type { ImportWarning } from './contract.ts';

/** A record's outcome. Records `skipped` or `overwritten` existed with other content. */
export type RecordOutcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: readonly RecordWarning[] }
  | WrittenOutcome
  | { readonly kind: 'failed'; readonly issue: RecordIssue };

interface WrittenOutcome {
  readonly kind: 'created' | 'overwritten';
  readonly warnings?: readonly RecordWarning[];
  /** The warnings of what the record gives, changes or adds. */
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A record of the file with its outcome. */
export interface Settled {
  readonly plan: RecordPlan;
  readonly outcome: RecordOutcome;
}

/** Returns the issue of a record that repeats an earlier one of the file. */
export function repetitionIssue({ error: { exists } }: Section): RecordIssue {
  return { ...exists, warning: { reason: 'record_repeated', message: 'is in the file twice: only the first counts' } };
}

/** Whether this import wrote the record. */
export function isWritten(outcome: RecordOutcome): outcome is WrittenOutcome {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}
