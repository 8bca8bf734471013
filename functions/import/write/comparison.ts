import { verifyPassword } from '../../../shared/auth/password.ts';
import { type JsonObject, parseObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { foldLookAlikes } from '../../../shared/lookAlikes.ts';
import { hasFilledFields, isEqualWhenFilled } from '../../../shared/organisation/filledFields.ts';
import { type OrganisationRecord, storedFields, toRecord } from '../../../shared/organisation/record.ts';
import { serialise } from '../../../shared/organisation/recordBody.ts';
import { possibleClaimKeys, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { sectionPartition, usualState } from '../../../shared/organisation/section.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type StoredDocument,
  type Write,
} from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';

/** The fields by which a stored record is compared with an imported one. */
export const comparedFields: readonly FieldName[] = [
  'partition',
  'orgId',
  'digest',
  'state',
  'passwordHash',
  'totpSeed',
  'clientSecret',
  'otpEmail',
  'createdAt',
  'changedAt',
];

/**
 * Reads what is stored under the records' keys, in their order: bodies, which may be large, only where a digest does not
 * decide.
 */
export async function readCompared(
  reader: Pick<DocumentStore, 'getMany'>,
  plans: readonly RecordPlan[],
): Promise<(StoredDocument | undefined)[]> {
  const stored = await reader.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  const undecided = plans.flatMap((plan, index) => (needsBody(plan, stored[index]) ? [index] : []));
  if (undecided.length === 0) return stored;
  const keys = undecided.flatMap((index) => plans[index]?.key ?? []);
  // All of their fields anew: outside of a transaction they may have changed.
  const whole = await reader.getMany(keys, [...comparedFields, 'body']);
  for (const [position, index] of undecided.entries()) stored[index] = whole[position];
  return stored;
}

/** Whether the digests of a record do not decide: exports may have filled in fields of one of them. */
export function needsBody({ record }: RecordPlan, stored: StoredDocument | undefined): boolean {
  return stored !== undefined && stored.digest !== record.digest && hasFilledFields(record.section);
}

/** The comparison of a batch's records with stored ones. Each password is derived once for as long as the hash stays. */
export class BatchComparison {
  private readonly onConflict: OnConflict;
  private readonly signal: AbortSignal;
  private readonly passwords = new Map<RecordPlan, { readonly hash: string; readonly isEqual: boolean }>();

  /** @param signal ends the comparison of passwords */
  constructor(onConflict: OnConflict, signal: AbortSignal) {
    this.onConflict = onConflict;
    this.signal = signal;
  }

  /** Compares clear passwords with stored hashes, in parallel, where `isEqual` depends on them. */
  async comparePasswords(pairs: readonly (readonly [RecordPlan, StoredDocument | undefined])[]): Promise<void> {
    const comparisons: Promise<void>[] = [];
    for (const [plan, stored] of pairs) {
      // Promises are expensive here: create one only where it is needed.
      if (plan.record.clearPassword === undefined || stored === undefined || !this.hasSameContent(plan, stored))
        continue;
      if (this.passwords.get(plan)?.hash !== storedHash(stored)) comparisons.push(this.comparePassword(plan, stored));
    }
    await Promise.all(comparisons);
  }

  /**
   * Whether the stored record equals the imported one. Credentials that the export file lacks are not compared, nor is a
   * state that overwriting would keep. `comparePasswords` must have seen both records.
   */
  isEqual(plan: RecordPlan, stored: StoredDocument): boolean {
    if (!this.hasSameContent(plan, stored)) return false;
    if (plan.record.clearPassword === undefined) return true;
    const compared = this.passwords.get(plan);
    if (compared?.hash !== storedHash(stored))
      throw new Error(`${documentPath(plan.key)}: the password was not compared`);
    return compared.isEqual;
  }

  private hasSameContent(plan: RecordPlan, stored: StoredDocument): boolean {
    if (!isSameRecord(plan, stored)) return false;
    return hasSameContent(this.onConflict === 'overwrite' ? withStoredState(plan, stored) : plan, stored);
  }

  private async comparePassword(plan: RecordPlan, stored: StoredDocument): Promise<void> {
    const hash = storedHash(stored);
    const isEqual = await verifyPassword(plan.record.clearPassword ?? '', hash, this.signal);
    this.passwords.set(plan, { hash, isEqual });
  }
}

function storedHash({ passwordHash = '' }: StoredDocument): string {
  return passwordHash;
}

/** Whether the records are equal except for a clear-text password. */
function hasSameContent({ record }: RecordPlan, stored: StoredDocument): boolean {
  if (stored.digest !== record.digest && !hasEqualFilledContent(record, stored)) return false;
  if (record.otpEmail && stored.otpEmail !== true) return false;
  const { passwordHash, totpSeed, clientSecret } = record.credentials;
  if (passwordHash !== undefined && passwordHash !== stored.passwordHash) return false;
  if (totpSeed !== undefined && totpSeed !== stored.totpSeed) return false;
  return clientSecret === undefined || clientSecret === stored.clientSecret;
}

/** Whether the records differ only in fields that an export fills in. */
function hasEqualFilledContent({ section, body }: OrganisationRecord, stored: StoredDocument): boolean {
  if (!hasFilledFields(section)) return false;
  if (stored.body === undefined) throw new Error(`the body of ${stored.id} was not read`);
  return isEqualWhenFilled(section, body, stored.body);
}

/** Whether the stored record belongs to the same organisation and section, so that it may be overwritten. */
export function isSameRecord({ record }: RecordPlan, stored: StoredDocument): boolean {
  return stored.orgId === record.orgId && stored.partition === sectionPartition(record.orgId, record.section);
}

/** Whether the stored record has the imported one's content, apart from credentials and a state that the file lacks. */
export function hasStoredContent(plan: RecordPlan, stored: StoredDocument): boolean {
  if (!isSameRecord(plan, stored)) return false;
  return [plan, withStoredState(plan, stored)].some(
    ({ record }) => record.digest === stored.digest || hasEqualFilledContent(record, stored),
  );
}

/** Returns the record to store: with the stored state, if the export file has none. */
function withStoredState(plan: RecordPlan, { state }: StoredDocument): RecordPlan {
  const { record } = plan;
  if (record.hasState || state === undefined || record.state === undefined || state === record.state) return plan;
  const json = { ...record.json, ...(record.json.orgState === undefined ? { state } : { orgState: state }) };
  return { ...plan, record: { ...record, json, ...serialise(json), state } };
}

/** The states before and after an overwrite; undefined where the record keeps its own. */
export function stateChange(plan: RecordPlan, stored: StoredDocument) {
  const { section } = plan.record;
  const { state: after = '' } = withStoredState(plan, stored).record;
  const before = stored.state ?? usualState(section) ?? '';
  return before === after ? undefined : { before, after };
}

/** The fields to read before a record is overwritten, in addition to the compared ones. */
export const overwrittenFields: readonly FieldName[] = ['body', 'sequence'];

/** Whether a record may be overwritten: not if that changes a field on which other stored records depend. */
export function canOverwrite({ record }: RecordPlan, stored: StoredDocument): boolean {
  const { fixed = [] } = record.section.overwrite ?? {};
  if (fixed.length === 0) return true;
  const previous = parseObject(stored.body);
  return fixed.every((path) => (valueAt(record.json, path) ?? false) === (valueAt(previous, path) ?? false));
}

/** Whether the imported record keeps the stored one's names that an organisation can reserve. */
export function keepsReservedNames({ record }: RecordPlan, stored: StoredDocument): boolean {
  const previous = parseObject(stored.body);
  const nameIn = (json: JsonObject, path: string) => foldLookAlikes(textAt(json, path, record.orgId));
  return (record.section.reserved ?? []).every(
    ({ suffixOf }) => nameIn(previous, suffixOf) === nameIn(record.json, suffixOf),
  );
}

/** Returns the claims that a stored record may hold. */
export function heldClaims({ record }: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  if (stored?.body === undefined) return [];
  const previous = toRecord(record.section, parseObject(stored.body), record.orgId, false);
  return possibleClaimKeys(previous);
}

/** Creates the write that overwrites a record. A state, credentials and factors that the export file lacks are kept. */
export function overwriteRecord(plan: RecordPlan, stored: StoredDocument, changedAt: string) {
  const { record, key } = withStoredState(plan, stored);
  const sequence = (stored.sequence ?? 0) + 1;
  const fields = { ...storedFields(record), sequence, changedAt };
  return { type: 'update', key, fields } satisfies Write;
}
