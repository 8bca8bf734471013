// Determines what to do with a record by comparing it with the document that is stored under its key. Afterwards,
// `decide` checks whether the record's unique names are free. All functions are pure.

import { type IssueParams, issueParams } from '../../../shared/errors/issueText.ts';
import { recordNoun, withArticle } from '../../../shared/errors/nouns.ts';
import { type JsonObject, parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { findSection, organisationSection, organisationState } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { rolesInUse } from '../../../shared/organisation/sections/grants.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import { isInDeletion, lastOwnerState, ownState } from '../../../shared/organisation/sections/users.ts';
import { documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import type { RecordConflict } from '../contract.ts';
import { type Checked, failed, type RecordOutcome, repetitionIssue } from '../stages.ts';
import { isOfThisImport } from '../stamp.ts';
import { changedFixedFields, keepsReservedNames, stateChange } from './overwrite.ts';
import { differingFields, isSameRecord } from './storedEquality.ts';

/** The facts about an import on which all decisions about records depend. */
export interface Rules {
  readonly onConflict: RecordConflict;
  /** See `uniqueStamp`. */
  readonly stamp: string;
  readonly callerPath: string | undefined;
}

export interface StoredRecords {
  /** The stored records, and the stored documents that reserve unique names. The key is the document's path. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** The paths of the stored records that calls other than imports have changed since the import began. */
  readonly changed: ReadonlySet<string>;
  readonly equal: ReadonlySet<RecordPlan>;
  /** The members in the file that a command has removed from the database since the import began. */
  readonly removed: ReadonlySet<RecordPlan>;
  /** The issues of records whose names other organisations reserve. */
  readonly reserved: ReadonlyMap<RecordPlan, RecordIssue>;
  /**
   * The paths of stored records that a mirroring import deletes although the file contains them. The import creates
   * these records again.
   */
  readonly replaced: ReadonlySet<string>;
  /**
   * The project grants whose overwrite would remove roles that user grants use. The value contains the parameters of a
   * text about these user grants.
   */
  readonly rolesInUse: ReadonlyMap<RecordPlan, IssueParams>;
  /** The paths of the instance's last active owners, if the batch would suspend all of them; otherwise empty. */
  readonly lastOwners: ReadonlySet<string>;
}

/**
 * What to do with a record if its unique names are free: create it, overwrite it, or only report an outcome that is
 * already final.
 */
type Intention = RecordOutcome | 'create' | 'overwrite';

export type Intentions = ReadonlyMap<Checked, Intention>;

/**
 * Determines what to do with each record, given the document that is stored under the record's key. Ignores whether the
 * names of the record are free.
 */
export function intend(records: readonly Checked[], stored: StoredRecords, rules: Rules): Intentions {
  return new Map(
    records.map((record) => [record, withoutLostRoles(record, intentionOf(record, stored, rules), stored)]),
  );
}

/**
 * Rejects a project grant if the write would remove roles that user grants use. If the import only reports that the
 * stored project grant differs, the report also describes the use of the roles.
 */
function withoutLostRoles(record: Checked, intention: Intention, { rolesInUse: uses }: StoredRecords): Intention {
  const params = uses.get(record.plan);
  if (params === undefined) return intention;
  if (typeof intention === 'string') return failed({ ...rolesInUse, params });
  const { exists } = record.plan.record.section.error;
  return isReported(record, intention) ? failed({ ...exists, reason: 'roles_in_use', params }) : intention;
}

function intentionOf(
  { plan }: Checked,
  { documents, changed, equal, removed, reserved: allReserved, replaced, lastOwners }: StoredRecords,
  rules: Rules,
): Intention {
  const path = documentPath(plan.key);
  const stored = documents.get(path);
  const { rejection } = plan;
  if (rejection !== undefined) {
    const isKept = stored !== undefined && !isOfThisImport(rules, stored) && !replaced.has(path);
    const isUnchanged = isKept && equal.has(plan);
    return isUnchanged ? { kind: 'unchanged' } : failed(rejection);
  }
  const reserved = allReserved.get(plan);
  if (stored === undefined) {
    const issue = reserved ?? (removed.has(plan) ? changedMeanwhile(plan) : undefined);
    return issue === undefined ? 'create' : failed(issue);
  }
  if (isOfThisImport(rules, stored)) return decideStoredRepetition(plan, equal.has(plan), stored);
  if (equal.has(plan)) return { kind: 'unchanged' };
  // Even with `skip`, report a record whose id belongs to another organisation or section.
  if (!isSameRecord(plan, stored)) return failed(foreignId(plan, stored));
  if (rules.onConflict === 'skip') return { kind: 'skipped' };
  if (rules.onConflict === 'report') return failed(reportedIssue(plan, stored, documents, rules));
  const fixed = changedFixedFields(plan, stored);
  if (fixed.length > 0) return failed(unchangeable(plan, fixed));
  if (changed.has(path) || removed.has(plan)) return failed(changedMeanwhile(plan));
  if (reserved !== undefined && !keepsReservedNames(plan, stored)) return failed(reserved);
  const protection = protectionIssue(plan, stored, rules) ?? (lastOwners.has(path) ? lastOwnerState : undefined);
  return protection === undefined ? 'overwrite' : failed(protection);
}

/** True if a record fails only because the stored content differs. An overwrite may then succeed. */
function isReported({ plan }: Checked, outcome: RecordOutcome): boolean {
  if (outcome.kind !== 'failed') return false;
  const { key, reason } = outcome.issue;
  return key === plan.record.section.error.exists.key && reason === undefined;
}

function storedSection({ partition = '' }: StoredDocument): Section | undefined {
  const [name = ''] = partition.split('/');
  return findSection(name);
}

function foreignId({ record: { section, orgId } }: RecordPlan, stored: StoredDocument): RecordIssue {
  const holder = withArticle(recordNoun(storedSection(stored)?.name ?? 'record'));
  const params = { holder, owner: `organisation ${stored.orgId ?? ''}` };
  const { exists } = section.error;
  if (isInDeletion(stored)) return { ...exists, reason: 'id_in_deletion' };
  if (stored.orgId === orgId) return { ...exists, reason: 'id_of_other_kind', params };
  return { ...exists, reason: 'id_taken', params };
}

/**
 * Returns the issue of a record whose stored content differs. If an overwrite would fail too, the issue contains the
 * reason.
 */
function reportedIssue(
  plan: RecordPlan,
  stored: StoredDocument,
  documents: StoredRecords['documents'],
  rules: Rules,
): RecordIssue {
  const { exists } = plan.record.section.error;
  const differing = differingFields(plan, stored, documents);
  if (differing === undefined) return exists;
  const taken = issueOfOwner(plan, parseObject(stored.body));
  if (taken !== undefined) return taken;
  const fixed = changedFixedFields(plan, stored);
  if (fixed.length > 0) return unchangeable(plan, fixed);
  const protection = protectionIssue(plan, stored, rules);
  if (protection === organisationState) return { ...exists, reason: 'organisation_state_kept' };
  if (protection !== undefined) return { ...exists, reason: 'own_state_kept' };
  const { fields, areKept } = differing;
  if (areKept) return { ...exists, reason: 'state_kept', params: { fields } };
  const isFactorRestored = plan.record.otpEmail === true && stored.otpEmail !== true;
  if (isFactorRestored) return { ...exists, reason: 'factor_removed', params: { fields } };
  return { ...exists, params: issueParams({ fields }) };
}

/** Returns the issue of a record whose overwrite would change fields that other stored records rely on. */
function unchangeable({ record }: RecordPlan, fields: readonly string[]): RecordIssue {
  return { ...record.section.error.exists, reason: 'field_fixed', params: { fields } };
}

/**
 * Returns the issue of a record that a call without the instance's lock has changed since the import began. The import
 * must not undo such a change; for example, it must not unlock a user.
 */
function changedMeanwhile({ record }: RecordPlan): RecordIssue {
  return { ...record.section.error.exists, reason: 'changed_meanwhile' };
}

/**
 * Returns the issue of a record whose key belongs to another owner. For example, a link to an external identity can
 * belong to another user.
 * @param other the other record with the same key
 */
function issueOfOwner({ record: { section, json, orgId } }: RecordPlan, other: JsonObject): RecordIssue | undefined {
  if (section.owner === undefined) return undefined;
  const { field, taken } = section.owner;
  const holder = textAt(other, field, orgId);
  return holder === textAt(json, field, orgId) ? undefined : { ...taken, params: { holder } };
}

/**
 * Determines the outcome of a record that has the key of an earlier record of the file. A repeated policy with the
 * same content is permitted, because an organisation can have several entries in the file. A repeated element of a list
 * is not.
 */
export function decideRepetition(
  plan: RecordPlan,
  areEqual: boolean,
  earlier: Pick<OrganisationRecord, 'section' | 'json'>,
): RecordOutcome {
  const { section } = plan.record;
  if (earlier.section.name !== section.name) return failed(repetitionIssue(section));
  const taken = issueOfOwner(plan, earlier.json);
  if (taken !== undefined) return failed(taken);
  return areEqual && !isList(section) ? { kind: 'unchanged' } : failed(repetitionIssue(section));
}

/**
 * Does the same as `decideRepetition` if the earlier record is known only from the database, where this import stored
 * it.
 */
function decideStoredRepetition(plan: RecordPlan, areEqual: boolean, stored: StoredDocument): RecordOutcome {
  const section = storedSection(stored) ?? plan.record.section;
  return decideRepetition(plan, areEqual, { section, json: parseObject(stored.body) });
}

/**
 * Returns the issue of an overwrite that would change the state of the caller, or of an organisation. Such an overwrite
 * could prevent the caller from logging in.
 */
function protectionIssue(plan: RecordPlan, stored: StoredDocument, { callerPath }: Rules): RecordIssue | undefined {
  const isOrganisation = plan.record.section === organisationSection;
  if (!isOrganisation && documentPath(plan.key) !== callerPath) return undefined;
  if (stateChange(plan, stored) === undefined) return undefined;
  return isOrganisation ? organisationState : ownState;
}
