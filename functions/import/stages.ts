// A record passes through four stages between the export file and the store: planned, checked, decided and settled. The
// types of this file describe a record or a batch at each stage.

import type { RecordWarning } from '../../shared/errors/warnings.ts';
import type { Gift } from '../../shared/organisation/privileges.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import type { DocumentKey, Write } from '../../shared/store/store.ts';
import type { ImportWarning } from './contract.ts';

export interface Planned extends RecordPlan {
  /**
   * The issue because of which the import must not write the record. The planning of the record or the check of its
   * references found the issue. If the stored record is equal, the record counts as unchanged instead, because the
   * stored record was valid when it was written.
   */
  readonly rejection?: RecordIssue;
}

/**
 * A record whose references the import has checked. Its outcome still depends on the stored record with its key, and on
 * which records have its unique names.
 */
export interface Checked {
  readonly plan: Planned;
  /** The warnings about the record. The response lists them unless the record fails. */
  readonly warnings: readonly RecordWarning[];
  readonly privilege: Privilege | undefined;
}

interface Privilege extends Gift {
  /** True if the organisation or project that the privilege concerns existed before the import. */
  readonly existed: boolean;
}

export interface Settled {
  readonly plan: RecordPlan;
  readonly outcome: RecordOutcome;
}

export type BatchRecord = Checked | Settled;

/** A stored record that a mirroring import deletes. */
export interface DoomedRecord extends Pick<OrganisationRecord, 'section' | 'orgId'> {
  readonly key: DocumentKey;
}

/** The outcomes of a batch's records. They are final once the database has committed the writes. */
export interface Decided {
  readonly records: readonly Settled[];
  readonly writes: readonly Write[];
  /** The paths of stored records that the writes delete, because records of the batch need their names. */
  readonly freed: readonly string[];
  /**
   * The stored user grants that a mirroring import deletes before it writes the batch, because they use roles that
   * project grants of the batch lose.
   */
  readonly early: readonly DoomedRecord[];
  /** The creation and change date of the written records, which no other attempt uses. */
  readonly stamp: string;
}

/** The outcome of a record. If it is `skipped` or `overwritten`, the stored record differed from the file's record. */
export type RecordOutcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: readonly RecordWarning[] }
  | WrittenOutcome
  | FailedOutcome;

interface FailedOutcome {
  readonly kind: 'failed';
  readonly issue: RecordIssue;
  /** The path of the record that already has the name, if the record failed for this reason. */
  readonly holder?: string;
}

interface WrittenOutcome {
  readonly kind: 'created' | 'overwritten';
  readonly warnings?: readonly RecordWarning[];
  readonly writeWarnings?: readonly ImportWarning[];
}

export function isSettled<Stage extends object>(record: Stage | Settled): record is Settled {
  return 'outcome' in record;
}

export function unsettled<Stage extends object>(records: readonly (Stage | Settled)[]): Stage[] {
  return records.filter((record): record is Stage => !isSettled(record));
}

export function failed(issue: RecordIssue): RecordOutcome {
  return { kind: 'failed', issue };
}

export function withWarnings(outcome: RecordOutcome, warnings: readonly RecordWarning[]): RecordOutcome {
  return warnings.length === 0 || outcome.kind === 'failed' ? outcome : { ...outcome, warnings };
}

export function repetitionIssue({ error: { exists } }: Section): RecordIssue {
  return { ...exists, reason: 'record_repeated' };
}

export function isWritten(outcome: RecordOutcome): outcome is WrittenOutcome {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}
