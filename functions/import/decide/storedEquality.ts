import { type JsonObject, parseObject } from '../../../shared/json/jsonObject.ts';
import {
  type ComparedContent,
  type FieldDifference,
  fieldDifferences,
  isOmission,
} from '../../../shared/organisation/equality.ts';
import { hasFilledFields } from '../../../shared/organisation/filledFields.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { type Credentials, type Section, sectionPartition } from '../../../shared/organisation/sections/section.ts';
import { credentialFields, type FieldName } from '../../../shared/store/documentFields.ts';
import { type DocumentKey, documentId, documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import type { RecordConflict } from '../contract.ts';

/** The fields that show whether a stored record has exactly the content of an imported record. */
export const contentFields: readonly FieldName[] = ['partition', 'orgId', 'digest', ...credentialFields, 'otpEmail'];

export const comparedFields: readonly FieldName[] = [...contentFields, 'state', 'createdAt', 'changedAt'];

/**
 * True if two records may be equal although their digests differ. The file may lack fields that exports add, or a state
 * that an overwrite would keep.
 */
export function needsBody(
  { record }: RecordPlan,
  stored: StoredDocument | undefined,
  onConflict: RecordConflict,
): boolean {
  if (stored === undefined || stored.digest === record.digest) return false;
  return hasFilledFields(record.section) || (onConflict === 'overwrite' && record.state?.source === 'unknown');
}

/**
 * True if the stored record equals the imported record. Clear passwords are not compared. If the file lacks a
 * credential, the OTP e-mail factor or the state, the stored value is ignored, because an overwrite would keep that
 * value. If the file shows that the source has no such value, a stored value is a difference.
 * @param documents the identity providers to which the records refer, and possibly other documents; the key is the
 * document's path
 */
export function isEqual(
  plan: RecordPlan,
  stored: StoredDocument,
  documents: ReadonlyMap<string, StoredDocument>,
  onConflict: RecordConflict,
): boolean {
  if (!isSameRecord(plan, stored)) return false;
  const { record } = plan;
  if (stored.digest !== record.digest && (isUnread(stored) || !needsBody(plan, stored, onConflict))) return false;
  return differencesOf(plan, stored, documents, onConflict === 'overwrite').length === 0;
}

interface DifferingFields {
  readonly fields: readonly string[];
  /**
   * True if an overwrite would keep the stored values of all these fields, because the file lacks the record's state.
   */
  readonly areKept: boolean;
}

/**
 * Lists the fields in which a stored record of the same organisation and section differs from the imported record;
 * undefined if the stored content is unknown.
 */
export function differingFields(
  plan: RecordPlan,
  stored: StoredDocument,
  documents: ReadonlyMap<string, StoredDocument>,
): DifferingFields | undefined {
  const { section, digest, clearPassword } = plan.record;
  if (stored.digest !== digest && isUnread(stored)) return undefined;
  const pathsOf = (keepsStates: boolean) => differencesOf(plan, stored, documents, keepsStates).map(({ path }) => path);
  const replaced = pathsOf(true);
  if (replaced.length > 0) return { fields: replaced, areKept: false };
  const kept = pathsOf(false);
  // Here the state differs, so no hash was compared with a clear password. If the file has a clear password, it may
  // differ too, and an overwrite would not keep the stored password.
  if (kept.length > 0) return { fields: kept, areKept: clearPassword === undefined };
  return { fields: (section.credentials ?? []).flatMap(({ clear }) => clear ?? []), areKept: false };
}

function differencesOf(
  { record }: RecordPlan,
  stored: StoredDocument,
  documents: ReadonlyMap<string, StoredDocument>,
  keepsStates: boolean,
): readonly FieldDifference[] {
  const [fileContent, storedContent] = comparedContents(record, stored);
  const isOwnProvider = (idpId: string) => documents.get(documentPath(providerKey(idpId)))?.orgId === record.orgId;
  const differences = fieldDifferences(record.section, fileContent, storedContent, isOwnProvider);
  return differences.filter((difference) => !isOmission(difference, fileContent, keepsStates));
}

function providerKey(idpId: string): DocumentKey {
  return { collection: 'identityProviders', id: documentId(idpId) };
}

/**
 * Lists the identity providers to which the imported or the stored record refers. The comparison needs the
 * organisations of these providers.
 */
export function differingProviders(plan: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  const { section, digest, json } = plan.record;
  const list = section.exported?.providers;
  if (list === undefined || stored === undefined || isUnread(stored)) return [];
  if (stored.digest === digest || !isSameRecord(plan, stored)) return [];
  return [...list(json), ...list(parseStoredBody(stored))].map(providerKey);
}

/**
 * Stands for the contents of two records whose digests are equal, so that the comparison need not parse these contents.
 */
const EQUAL: JsonObject = {};

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

/**
 * In a dry run, the records that the import has written are in an overlay. It keeps the digests of most of them, but
 * not their bodies.
 */
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

export function isSameRecord(
  { record }: { readonly record: Pick<OrganisationRecord, 'orgId' | 'section'> },
  stored: StoredDocument,
): boolean {
  return stored.orgId === record.orgId && stored.partition === sectionPartition(record.orgId, record.section);
}

/**
 * True if the stored record has the content of the imported record. Ignores credentials, and a state that the file does
 * not have.
 */
export function hasStoredContent(plan: RecordPlan, stored: StoredDocument): boolean {
  if (!isSameRecord(plan, stored)) return false;
  const [fileContent, storedContent] = comparedContents(plan.record, stored);
  const bare = { secrets: {}, otpEmail: undefined };
  const differences = fieldDifferences(
    plan.record.section,
    { ...fileContent, ...bare },
    { ...storedContent, ...bare },
    () => false,
  );
  return differences.every((difference) => isOmission(difference, fileContent, true));
}
