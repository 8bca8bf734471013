// A record on its way from the export file into the store, and its outcome.

import type { RecordWarning } from '../../shared/errors/warnings.ts';
import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { GivenPrivilege, Section } from '../../shared/organisation/section.ts';
import type { ImportWarning } from './contract.ts';

/** A record of a batch, with the results of the steps so far. */
export interface IncomingRecord {
  /** The record with its key and claims. */
  plan: RecordPlan;
  /** Warnings, which are listed unless the record fails. */
  readonly warnings: RecordWarning[];
  /** The issue of a record whose name another organisation reserves: it must neither be created nor get the name. */
  reserved: RecordIssue | undefined;
  privilege: Privilege | undefined;
  /** The hash of the record's clear password. */
  passwordHash: string | undefined;
  /** Undefined until the record is decided. */
  outcome: RecordOutcome | undefined;
}

/** A privilege that a record gives, and whether its organisation or project existed before the import. */
export interface Privilege {
  readonly given: GivenPrivilege;
  readonly texts: readonly string[];
  readonly existed: boolean;
}

/** A record's outcome. Records `skipped` or `overwritten` existed with other content. */
export type RecordOutcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: readonly RecordWarning[] }
  | WrittenOutcome
  | { readonly kind: 'failed'; readonly issue: RecordIssue };

interface WrittenOutcome {
  readonly kind: 'created' | 'overwritten';
  readonly warnings?: readonly RecordWarning[];
  /** The warnings about privileges, domains and states. */
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A record with its final outcome. */
export interface Settled {
  readonly plan: RecordPlan;
  readonly outcome: RecordOutcome;
}

/** Creates an incoming record, before the first step. */
export function toIncoming(plan: RecordPlan): IncomingRecord {
  return {
    plan,
    warnings: [],
    reserved: undefined,
    privilege: undefined,
    passwordHash: undefined,
    outcome: undefined,
  };
}

/** Whether a record has no outcome yet. */
export function isUndecided({ outcome }: IncomingRecord): boolean {
  return outcome === undefined;
}

/** Returns the outcome of a record with an issue. */
export function failed(issue: RecordIssue): RecordOutcome {
  return { kind: 'failed', issue };
}

/** Returns the issue of a record that repeats an earlier one of the file. */
export function repetitionIssue({ error: { exists } }: Section): RecordIssue {
  return { ...exists, reason: 'record_repeated' };
}

/** Whether this import wrote the record. */
export function isWritten(outcome: RecordOutcome): outcome is WrittenOutcome {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}
