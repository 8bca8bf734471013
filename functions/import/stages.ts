// The stages of a record on its way from the export file to the store: planned, checked, decided and settled. Each
// stage is a new value.

import type { RecordWarning } from '../../shared/errors/warnings.ts';
import type { Gift } from '../../shared/organisation/privileges.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import type { DocumentKey, Write } from '../../shared/store/store.ts';
import type { ImportWarning } from './contract.ts';

/** A record of the file with its key and names. */
export interface Planned extends RecordPlan {
  /**
   * The issue of a record that the import must not write. Planning finds an issue in the record itself; the check finds
   * other issues. A record that equals the stored record counts as unchanged despite its issue, because the stored
   * record was valid when it was written.
   */
  readonly rejection?: RecordIssue;
}

/** A record whose references were checked. Its outcome depends on the documents stored under its key and its names. */
export interface Checked {
  readonly plan: Planned;
  /** Warnings, which the response lists unless the record fails. */
  readonly warnings: readonly RecordWarning[];
  readonly privilege: Privilege | undefined;
}

/** A privilege that a record gives. */
interface Privilege extends Gift {
  /** Whether the organisation or project existed before the import. */
  readonly existed: boolean;
}

/** A record with its final outcome. */
export interface Settled {
  readonly plan: RecordPlan;
  readonly outcome: RecordOutcome;
}

/** A record of a batch. A record that the check rejects is already settled. */
export type BatchRecord = Checked | Settled;

/** A stored record that a mirroring import deletes. */
export interface DoomedRecord extends Pick<OrganisationRecord, 'section' | 'orgId'> {
  readonly key: DocumentKey;
}

/** The outcomes of a batch's records, which are final once the writes are committed. */
export interface Decided {
  readonly records: readonly Settled[];
  readonly writes: readonly Write[];
  /** The paths of the records that the writes delete, because records of the batch need their names. */
  readonly freed: readonly string[];
  /** The stored user grants that a mirroring import deletes before it writes project grants of the batch. */
  readonly early: readonly DoomedRecord[];
  /** The creation and change date of the written records; unique to this attempt. */
  readonly stamp: string;
}

/** A record's outcome. Records `skipped` or `overwritten` existed with other content. */
export type RecordOutcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: readonly RecordWarning[] }
  | WrittenOutcome
  | FailedOutcome;

interface FailedOutcome {
  readonly kind: 'failed';
  readonly issue: RecordIssue;
  /** The path of the record that has the name this record needs. */
  readonly holder?: string;
}

interface WrittenOutcome {
  readonly kind: 'created' | 'overwritten';
  readonly warnings?: readonly RecordWarning[];
  /** The warnings about privileges, domains and states. */
  readonly writeWarnings?: readonly ImportWarning[];
}

/** Whether a record's outcome is decided. */
export function isSettled<Stage extends object>(record: Stage | Settled): record is Settled {
  return 'outcome' in record;
}

/** Returns the records that have no outcome yet. */
export function unsettled<Stage extends object>(records: readonly (Stage | Settled)[]): Stage[] {
  return records.filter((record): record is Stage => !isSettled(record));
}

/** Returns the outcome of a record with an issue. */
export function failed(issue: RecordIssue): RecordOutcome {
  return { kind: 'failed', issue };
}

/** Returns a record's outcome with its warnings; a failed record has no warnings. */
export function withWarnings(outcome: RecordOutcome, warnings: readonly RecordWarning[]): RecordOutcome {
  return warnings.length === 0 || outcome.kind === 'failed' ? outcome : { ...outcome, warnings };
}

/** Returns the issue of a record that repeats an earlier record of the file. */
export function repetitionIssue({ error: { exists } }: Section): RecordIssue {
  return { ...exists, reason: 'record_repeated' };
}

/** Whether this import wrote the record. */
export function isWritten(outcome: RecordOutcome): outcome is WrittenOutcome {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}
