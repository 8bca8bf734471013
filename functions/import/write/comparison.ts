// The comparison of imported records with stored ones.

import { verifyPassword } from '../../../shared/auth/password.ts';
import { type JsonObject, parseObject } from '../../../shared/json/jsonObject.ts';
import { type ComparedContent, fieldDifferences, isOmission } from '../../../shared/organisation/equality.ts';
import { hasFilledFields } from '../../../shared/organisation/filledFields.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { type Credentials, type Section, sectionPartition } from '../../../shared/organisation/section.ts';
import { credentialFields, type FieldName } from '../../../shared/store/documentFields.ts';
import {
  type DocumentKey,
  documentId,
  documentPath,
  type Reader,
  readByPath,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';

/** An imported record, and the one that is stored under its key. */
type Pair = readonly [RecordPlan, StoredDocument | undefined];

/** The fields by which a stored record is compared with an imported one. */
export const comparedFields: readonly FieldName[] = [
  'partition',
  'orgId',
  'digest',
  'state',
  ...credentialFields,
  'otpEmail',
  'createdAt',
  'changedAt',
];

/**
 * Reads the documents under the records' keys, in their order. Bodies may be large, so they are read only if the digest
 * does not decide.
 */
export async function readCompared(
  reader: Reader,
  plans: readonly RecordPlan[],
  onConflict: OnConflict,
): Promise<(StoredDocument | undefined)[]> {
  const stored = await reader.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  const undecided = plans.flatMap((plan, index) => (needsBody(plan, stored[index], onConflict) ? [index] : []));
  if (undecided.length === 0) return stored;
  const keys = undecided.flatMap((index) => plans[index]?.key ?? []);
  // All fields again, because outside of a transaction they may have changed.
  const whole = await reader.getMany(keys, [...comparedFields, 'body']);
  for (const [position, index] of undecided.entries()) stored[index] = whole[position];
  return stored;
}

/** Whether the digests of a record do not decide: it may lack fields that exports fill in, or a state that an overwrite keeps. */
export function needsBody({ record }: RecordPlan, stored: StoredDocument | undefined, onConflict: OnConflict): boolean {
  if (stored === undefined || stored.digest === record.digest) return false;
  return hasFilledFields(record.section) || (onConflict === 'overwrite' && record.state?.source === 'derived');
}

/** The comparison of a batch's records with stored ones. Each password is derived once for as long as the hash stays. */
export class BatchComparison {
  private readonly onConflict: OnConflict;
  private readonly signal: AbortSignal;
  private readonly passwords = new Map<RecordPlan, { readonly hash: string; readonly isEqual: boolean }>();
  /** The organisations of the identity providers that differing records name. */
  private readonly providers = new Map<string, string | undefined>();

  /** @param signal ends the comparison of passwords */
  constructor(onConflict: OnConflict, signal: AbortSignal) {
    this.onConflict = onConflict;
    this.signal = signal;
  }

  /** Reads the identity providers, and compares the clear passwords with stored hashes, on which `isEqual` depends. */
  async prepare(reader: Reader, pairs: readonly Pair[]): Promise<void> {
    await this.readProviders(reader, pairs);
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
   * Whether the stored record equals the imported one. A credential, factor or state that the export file omits without
   * stating its absence, so that an overwrite would keep it, is not compared. `prepare` must have seen both records.
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
    const { record } = plan;
    if (stored.digest !== record.digest && (isUnread(stored) || !needsBody(plan, stored, this.onConflict)))
      return false;
    const [given, found] = comparedContents(record, stored);
    const isOwnProvider = (idpId: string) => this.organisationOf(idpId) === record.orgId;
    const differences = fieldDifferences(record.section, given, found, isOwnProvider);
    return differences.every((difference) => isOmission(difference, given, this.onConflict === 'overwrite'));
  }

  private organisationOf(idpId: string): string | undefined {
    const path = documentPath(providerKey(idpId));
    if (!this.providers.has(path)) throw new Error(`${path} was not read`);
    return this.providers.get(path);
  }

  private async readProviders(reader: Reader, pairs: readonly Pair[]): Promise<void> {
    const ids = pairs.flatMap(([plan, stored]) => differingProviders(plan, stored));
    const read = await readByPath(reader, ids.map(providerKey), ['orgId']);
    for (const [path, document] of read) this.providers.set(path, document?.orgId);
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

/** The key of an identity provider. */
function providerKey(idpId: string): DocumentKey {
  return { collection: 'identityProviders', id: documentId(idpId) };
}

/** Lists the ids of the identity providers that decide whether records are equal, because either record names them. */
function differingProviders(plan: RecordPlan, stored: StoredDocument | undefined): string[] {
  const { section, digest, json } = plan.record;
  const list = section.exported?.providers;
  if (list === undefined || stored === undefined || isUnread(stored)) return [];
  if (stored.digest === digest || !isSameRecord(plan, stored)) return [];
  return [...list(json), ...list(parseStoredBody(stored))];
}

/** The JSON of both records where their digests are equal. */
const EQUAL: JsonObject = {};

/** Returns the compared content of an imported record and of the stored one. */
function comparedContents(
  record: OrganisationRecord,
  stored: StoredDocument,
): readonly [ComparedContent, ComparedContent] {
  const { section, credentials, otpEmail, lacks, state } = record;
  const isEqualJson = stored.digest === record.digest;
  return [
    {
      json: isEqualJson ? EQUAL : record.json,
      secrets: secretsOf(section, credentials),
      otpEmail,
      lacks: lacks?.map(({ path }) => path),
      state,
    },
    {
      json: isEqualJson ? EQUAL : parseStoredBody(stored),
      secrets: secretsOf(section, stored),
      otpEmail: stored.otpEmail,
    },
  ];
}

/** Whether a stored record has no body to compare: a dry run keeps only the digests of most records that it would write. */
function isUnread({ body }: StoredDocument): boolean {
  return body === undefined;
}

function parseStoredBody({ id, body }: StoredDocument): JsonObject {
  if (body === undefined) throw new Error(`the body of ${id} was not read`);
  return parseObject(body);
}

function secretsOf({ credentials = [] }: Section, stored: Credentials): ComparedContent['secrets'] {
  const present = credentials.flatMap(({ path, field }) => {
    const secret = stored[field];
    return secret === undefined ? [] : [[path, secret] as const];
  });
  return Object.fromEntries(present);
}

/** Whether the stored record belongs to the same organisation and section, so that it may be overwritten. */
export function isSameRecord({ record }: RecordPlan, stored: StoredDocument): boolean {
  return stored.orgId === record.orgId && stored.partition === sectionPartition(record.orgId, record.section);
}

/** Whether the stored record has the imported one's content, apart from credentials and a state that the file lacks. */
export function hasStoredContent(plan: RecordPlan, stored: StoredDocument): boolean {
  if (!isSameRecord(plan, stored)) return false;
  if (stored.digest !== plan.record.digest && isUnread(stored)) return false;
  const [given, found] = comparedContents(plan.record, stored);
  const bare = { secrets: {}, otpEmail: undefined };
  const differences = fieldDifferences(plan.record.section, { ...given, ...bare }, { ...found, ...bare }, () => false);
  return differences.every((difference) => isOmission(difference, given, true));
}
