// The decision about a batch: a function of values.

import { issueParams } from '../../../shared/errors/issueText.ts';
import { recordNoun, withArticle } from '../../../shared/errors/nouns.ts';
import { parseObject } from '../../../shared/json/jsonObject.ts';
import { findSection, organisationSection, organisationState } from '../../../shared/organisation/allSections.ts';
import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isList } from '../../../shared/organisation/section.ts';
import { isInDeletion, ownState } from '../../../shared/organisation/sections/users.ts';
import { documentPath, type StoredDocument, type Write } from '../../../shared/store/store.ts';
import type { RecordConflict } from '../contract.ts';
import {
  type BatchRecord,
  type Checked,
  type Decided,
  failed,
  isSettled,
  type RecordOutcome,
  repetitionIssue,
  type Settled,
  unsettled,
  withWarnings,
} from '../stages.ts';
import { isOfThisImport } from '../stamp.ts';
import { ClaimLedger, type FreedHolder } from './claims.ts';
import {
  adoptRecord,
  changedFixedFields,
  heldClaims,
  keepsReservedNames,
  overwriteRecord,
  stateChange,
} from './overwrite.ts';
import { differingFields, isSameRecord } from './storedEquality.ts';
import { writeWarnings } from './writeWarnings.ts';

/** What holds for all decisions of an import. */
export interface Rules {
  readonly onConflict: RecordConflict;
  /** The import's stamp, which is unique; see `uniqueStamp`. */
  readonly stamp: string;
  /** The path of the calling user's record. */
  readonly callerPath: string | undefined;
}

/** What is stored under the keys of a batch's records. */
export interface StoredRecords {
  /** The stored records and claims, by path. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** The paths of the stored records that other calls than imports have changed since the import began. */
  readonly changed: ReadonlySet<string>;
  /** The records that equal the stored ones. */
  readonly equal: ReadonlySet<RecordPlan>;
  /** The issues of records whose names other organisations reserve. */
  readonly reserved: ReadonlyMap<RecordPlan, RecordIssue>;
  /** The paths of the stored records that a mirroring import deletes before it writes the file's. */
  readonly replaced: ReadonlySet<string>;
}

/** What decides about a batch. */
export interface StoredBatch extends Pick<StoredRecords, 'documents'> {
  readonly intentions: ReadonlyMap<Checked, Intention>;
  /** The versions of the stored records, by path, if some are overwritten. */
  readonly versions: ReadonlyMap<string, string>;
  /** The hashes of clear passwords to store. */
  readonly passwordHashes: ReadonlyMap<RecordPlan, string>;
  /** The holders of names that give way to the batch's records, by path. */
  readonly freed: ReadonlyMap<string, FreedHolder>;
  /** Whether the records give up their names before any of them takes one. */
  readonly isSimultaneous: boolean;
  /** The paths of records that calls have changed: if they are unchanged, they count as this import's from now on. */
  readonly adopted: ReadonlySet<string>;
}

/** How a record is written unless another record has claimed its name, or its outcome. */
export type Intention = RecordOutcome | 'create' | 'overwrite';

/**
 * Decides the records of a batch in their order. A name that a record gives up is free for those after it, or for all if
 * the batch is decided simultaneously.
 * @param stamp the creation and change date of the written records
 */
export function decide(
  batch: readonly BatchRecord[],
  stored: StoredBatch,
  rules: Pick<Rules, 'onConflict'>,
  stamp: string,
): Decided {
  // A record that cannot take its names keeps those that it has, which others may then not get.
  const keeping = new Set<BatchRecord>();
  for (;;) {
    const decided = decideInOrder(batch, stored, rules, stamp, keeping);
    const kept = keeping.size;
    for (const [index, record] of batch.entries())
      if (decided.records[index]?.outcome.kind === 'failed') keeping.add(record);
    if (!stored.isSimultaneous || keeping.size === kept) return decided;
  }
}

/** @param keeping the records that do not give up names before their turn */
function decideInOrder(
  batch: readonly BatchRecord[],
  { documents, intentions, versions, passwordHashes, freed, isSimultaneous, adopted }: StoredBatch,
  { onConflict }: Pick<Rules, 'onConflict'>,
  stamp: string,
  keeping: ReadonlySet<BatchRecord>,
): Decided {
  const ledger = new ClaimLedger(documents, freed);
  for (const record of isSimultaneous ? unsettled(batch) : [])
    if (intentions.get(record) === 'overwrite' && !keeping.has(record))
      ledger.giveUp(record.plan, heldClaims(record.plan, documents.get(documentPath(record.plan.key))));
  const written = new Map<string, RecordPlan>();
  const writes: Write[] = [];
  const decideNext = (record: Checked): Settled => {
    const { plan } = record;
    const settle = (outcome: RecordOutcome): Settled => ({ plan, outcome: withWarnings(outcome, record.warnings) });
    const path = documentPath(plan.key);
    const document = documents.get(path);
    const first = written.get(path);
    const intention =
      first === undefined || record.rejection !== undefined
        ? intentions.get(record)
        : decideRepetition(plan, plan.record.digest === first.record.digest);
    if (intention === undefined) throw new Error(`no intention for ${path}`);
    if (typeof intention === 'object') {
      if (intention.kind === 'unchanged' && first === undefined && document !== undefined && adopted.has(path))
        writes.push(adoptRecord(plan, document, versions.get(path), stamp));
      return settle(intention);
    }
    const adjusted = onConflict === 'overwrite' ? plan : adjustMeanwhile(plan, documents);
    const taken = ledger.claim(adjusted, heldClaims(plan, document));
    if (taken !== undefined) return settle({ kind: 'failed', ...taken });
    written.set(path, plan);
    const kept = withPasswordHash(adjusted, passwordHashes.get(plan));
    const overwrite = document && overwriteRecord(kept, document, versions.get(path), stamp);
    writes.push(overwrite ?? createRecord(kept, stamp));
    const warnings = writeWarnings(record, document);
    const kind = intention === 'create' ? 'created' : 'overwritten';
    return { ...settle(warnings.length === 0 ? { kind } : { kind, writeWarnings: warnings }), plan: adjusted };
  };
  const records = batch.map((record) => (isSettled(record) ? record : decideNext(record)));
  return { records, writes: [...writes, ...ledger.writes()], stamp, freed: [...ledger.released.keys()] };
}

/**
 * Returns a record without its section's adjusted field if another call has stored a record with that field since the
 * import read it. An overwrite runs alone, and moves the field.
 */
function adjustMeanwhile(plan: RecordPlan, documents: StoredBatch['documents']): RecordPlan {
  const { record, key, claims } = plan;
  const { adjusted } = record.section;
  const claim = claims.find(({ taken }) => taken === 'adjusted');
  const held = claim && documents.get(documentPath(claim.key));
  if (held === undefined || adjusted === undefined) return plan;
  const holder = documents.get(documentPath(holderKey(held, key.collection)));
  const adjustment = { warning: adjusted.held(parseObject(holder?.body)) };
  const changed = withChanges(record, new Map([[adjusted.field, undefined]]));
  return { ...plan, record: { ...changed, adjustment }, claims: claims.filter((other) => other !== claim) };
}

/** Decides a record by its own document, without regard to names that other records claim. */
export function intend(
  { plan, rejection }: Checked,
  { documents, changed, equal, reserved: allReserved, replaced }: StoredRecords,
  rules: Rules,
): Intention {
  const path = documentPath(plan.key);
  const stored = documents.get(path);
  if (rejection !== undefined) {
    const isKept = stored !== undefined && !isOfThisImport(rules, stored) && !replaced.has(path);
    const isUnchanged = isKept && equal.has(plan);
    return isUnchanged ? { kind: 'unchanged' } : failed(rejection);
  }
  const reserved = allReserved.get(plan);
  if (stored === undefined) return reserved === undefined ? 'create' : failed(reserved);
  if (isOfThisImport(rules, stored)) return decideRepetition(plan, equal.has(plan));
  if (equal.has(plan)) return { kind: 'unchanged' };
  // Under another organisation or section, a record is always reported.
  if (!isSameRecord(plan, stored)) return failed(foreignId(plan, stored));
  if (rules.onConflict === 'skip') return { kind: 'skipped' };
  if (rules.onConflict === 'report') return failed(reportedIssue(plan, stored, documents, rules));
  const fixed = changedFixedFields(plan, stored);
  if (fixed.length > 0) return failed(unchangeable(plan, fixed));
  if (changed.has(path)) return failed(changedMeanwhile(plan));
  if (reserved !== undefined && !keepsReservedNames(plan, stored)) return failed(reserved);
  const protection = protectionIssue(plan, stored, rules);
  return protection === undefined ? 'overwrite' : failed(protection);
}

/** Whether a record fails only because it is stored with content that an overwrite may replace. */
export function isReported({ plan }: Checked, intention: Intention | undefined): boolean {
  if (typeof intention !== 'object' || intention.kind !== 'failed') return false;
  const { key, reason } = intention.issue;
  return key === plan.record.section.error.exists.key && reason === undefined;
}

/** Returns the issue of a record whose id belongs to a record of another organisation or section. */
function foreignId({ record: { section, orgId } }: RecordPlan, stored: StoredDocument): RecordIssue {
  const [name = ''] = (stored.partition ?? '').split('/');
  const holder = withArticle(recordNoun(findSection(name)?.name ?? 'record'));
  const params = { holder, owner: `organisation ${stored.orgId ?? ''}` };
  const { exists } = section.error;
  if (isInDeletion(stored)) return { ...exists, reason: 'id_in_deletion' };
  if (stored.orgId === orgId) return { ...exists, reason: 'id_of_other_kind', params };
  return { ...exists, reason: 'id_taken', params };
}

/** Returns the issue of a record that is stored with other content, with the reason why an overwrite would fail, if any. */
function reportedIssue(
  plan: RecordPlan,
  stored: StoredDocument,
  documents: StoredRecords['documents'],
  rules: Rules,
): RecordIssue {
  const { exists } = plan.record.section.error;
  const differing = differingFields(plan, stored, documents);
  if (differing === undefined) return exists;
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

/** Returns the issue of a record that changes fields of a stored one on which other records depend. */
function unchangeable({ record }: RecordPlan, fields: readonly string[]): RecordIssue {
  return { ...record.section.error.exists, reason: 'field_fixed', params: { fields } };
}

/** Returns the issue of a record that a call without the lock has changed: to undo a lock or a removal is not for this import. */
export function changedMeanwhile({ record }: RecordPlan): RecordIssue {
  return { ...record.section.error.exists, reason: 'changed_meanwhile' };
}

/** Decides a record that repeats a written one: entries of a file may repeat equal policies, but not records of lists. */
function decideRepetition({ record: { section } }: RecordPlan, areEqual: boolean): RecordOutcome {
  return areEqual && !isList(section) ? { kind: 'unchanged' } : failed(repetitionIssue(section));
}

/** Returns the issue of an overwrite that would change the state of an organisation or of the caller, who could be locked out. */
function protectionIssue(plan: RecordPlan, stored: StoredDocument, { callerPath }: Rules): RecordIssue | undefined {
  const isOrganisation = plan.record.section === organisationSection;
  if (!isOrganisation && documentPath(plan.key) !== callerPath) return undefined;
  if (stateChange(plan, stored) === undefined) return undefined;
  return isOrganisation ? organisationState : ownState;
}

function withPasswordHash(plan: RecordPlan, passwordHash: string | undefined): RecordPlan {
  if (passwordHash === undefined) return plan;
  const { record } = plan;
  return { ...plan, record: { ...record, credentials: { ...record.credentials, passwordHash } } };
}
