import { verifyPassword } from '../../../shared/auth/password.ts';
import { isJsonObject, valueAt } from '../../../shared/json/jsonObject.ts';
import { type OrganisationRecord, storedFields, toRecord } from '../../../shared/organisation/record.ts';
import { planRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import type { DocumentKey, StoredDocument, Write } from '../../../shared/store/store.ts';

/** The fields by which a stored record is compared with an imported one. */
export const comparedFields: readonly FieldName[] = [
  'partition',
  'orgId',
  'digest',
  'passwordHash',
  'totpSeed',
  'clientSecret',
  'otpEmail',
  'createdAt',
  'changedAt',
];

/** Whether the stored record equals the imported one. Credentials that the imported record lacks are not compared. */
export async function isEqual(record: OrganisationRecord, stored: StoredDocument): Promise<boolean> {
  if (!hasSameContent(record, stored)) return false;
  return record.clearPassword === undefined || verifyPassword(record.clearPassword, stored.passwordHash ?? '');
}

/** Whether the records are equal, as in `isEqual`, except for a clear-text password. */
export function hasSameContent(record: OrganisationRecord, stored: StoredDocument): boolean {
  if (stored.digest !== record.digest || stored.orgId !== record.orgId) return false;
  if (record.otpEmail && stored.otpEmail !== true) return false;
  const { passwordHash, totpSeed, clientSecret } = record.credentials;
  if (passwordHash !== undefined && passwordHash !== stored.passwordHash) return false;
  if (totpSeed !== undefined && totpSeed !== stored.totpSeed) return false;
  return clientSecret === undefined || clientSecret === stored.clientSecret;
}

/** The fields to read before a record is overwritten, in addition to the compared ones. */
export const overwrittenFields: readonly FieldName[] = ['body', 'sequence'];

/** Whether a record may be overwritten: not if that changes a field on which other stored records depend. */
export function canOverwrite({ record }: RecordPlan, stored: StoredDocument): boolean {
  const { fixed } = record.section;
  return fixed === undefined || (valueAt(record.json, fixed) ?? false) === (valueAt(parseBody(stored), fixed) ?? false);
}

/** Returns the claims that a stored record may hold, whatever its organisation's domain policy was at the time. */
export function heldClaims({ record }: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  if (stored?.body === undefined) return [];
  const previous = toRecord(record.section, parseBody(stored), record.orgId, false);
  return [false, true].flatMap((byDomain) => planRecord(previous, byDomain).claims.map(({ key }) => key));
}

/** Creates the write that overwrites a record. Credentials and factors that the imported record lacks are kept. */
export function overwriteRecord({ record, key }: RecordPlan, stored: StoredDocument, changedAt: string) {
  const sequence = (stored.sequence ?? 0) + 1;
  const fields = { state: null, ...storedFields(record), sequence, changedAt };
  return { type: 'update', key, fields } satisfies Write;
}

function parseBody({ body = '{}' }: StoredDocument) {
  const json: unknown = JSON.parse(body);
  return isJsonObject(json) ? json : {};
}
