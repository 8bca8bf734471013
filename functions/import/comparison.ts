import { verifyPassword } from '../../shared/auth/password.ts';
import type { OrganisationRecord } from '../../shared/contract/record.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { StoredDocument } from '../../shared/store/store.ts';

/** The fields by which a stored record is compared with one of a document. */
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

/** Whether the stored record is the one given. What the given one does not carry is not compared. */
export async function isEqual(record: OrganisationRecord, stored: StoredDocument): Promise<boolean> {
  if (!hasSameContent(record, stored)) return false;
  return record.clearPassword === undefined || verifyPassword(record.clearPassword, stored.passwordHash ?? '');
}

/** As `isEqual`, a password in clear left out. */
export function hasSameContent(record: OrganisationRecord, stored: StoredDocument): boolean {
  if (stored.digest !== record.digest || stored.orgId !== record.orgId) return false;
  if (record.otpEmail && stored.otpEmail !== true) return false;
  const { passwordHash, totpSeed, clientSecret } = record.credentials;
  if (passwordHash !== undefined && passwordHash !== stored.passwordHash) return false;
  if (totpSeed !== undefined && totpSeed !== stored.totpSeed) return false;
  return clientSecret === undefined || clientSecret === stored.clientSecret;
}
