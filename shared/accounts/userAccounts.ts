import { randomInt } from 'node:crypto';
import { nameInvalid, organisationUnknown, otpEmailSet, userUnknown } from '../errors/commandErrors.ts';
import { isInRemoval, organisationSection } from '../organisation/allSections.ts';
import { InvalidRecordError } from '../organisation/message.ts';
import { newRecord } from '../organisation/newRecord.ts';
import { createWrites, planRecord, type RecordPlan } from '../organisation/recordPlan.ts';
import { isInSection } from '../organisation/sections/section.ts';
import { humanUserSection, machineUserSection } from '../organisation/sections/users.ts';
import type { FieldName } from '../store/documentFields.ts';
import { organisationKey, userKey } from '../store/documentKeys.ts';
import type { Reader, Store, StoredDocument, Transaction, Write } from '../store/store.ts';

/** Generates an id of 18 digits, in the format of ZITADEL's ids. */
export function generateId(): string {
  return `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000_000, 999_999_999)}`;
}

/** @throws IdentityError INVALID_ARGUMENT if an import would reject the name */
export function organisationWrites(orgId: string, name: string, now: Date): Write[] {
  const record = checkName(name, () => newRecord(organisationSection, { orgId, org: { name } }, orgId, now));
  return createWrites(planRecord(record, false), now.toISOString());
}

export interface NewServiceUser {
  readonly userId: string;
  readonly orgId: string;
  /** This is both the user name and the display name. */
  readonly name: string;
}

/**
 * Plans a service user whose access tokens have the type Bearer (specification 5.3).
 * @param byDomain whether the organisation's login names contain its domain
 * @throws IdentityError INVALID_ARGUMENT if an import would reject the name
 */
export function planServiceUser({ userId, orgId, name }: NewServiceUser, byDomain: boolean, now: Date): RecordPlan {
  const user = { userName: name, name, accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER' };
  const record = checkName(name, () => newRecord(machineUserSection, { userId, user }, orgId, now));
  return planRecord(record, byDomain);
}

const MAX_NAME_CHARACTERS = 200;

/**
 * Requires a name that imports accept, including imports into ZITADEL.
 * @param read parses a record with this name; throws InvalidRecordError if the name is invalid
 */
function checkName<Result>(name: string, read: () => Result): Result {
  if (name !== '' && name.trim() === '') throw nameInvalid({ problem: 'the name is blank' });
  if (/\p{Cc}/u.test(name)) throw nameInvalid({ problem: 'the name contains control characters' });
  // ZITADEL's API rejects longer names.
  if ([...name].length > MAX_NAME_CHARACTERS)
    throw nameInvalid({ problem: `the name has more than ${MAX_NAME_CHARACTERS} characters` });
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidRecordError ? nameInvalid({ problem: error.message }) : error;
  }
}

/**
 * Reads a person or a service user in any state.
 * @throws IdentityError NOT_FOUND if no user has this id
 */
export async function requireUser(
  reader: Reader,
  userId: string,
  fields: readonly FieldName[] = [],
): Promise<StoredDocument> {
  const [user] = await reader.getMany([userKey(userId)], fields);
  if (user === undefined) throw userUnknown({ userId });
  return user;
}

/** The state of a user whose deletion has begun. */
export const DELETED = 'USER_STATE_DELETED';

/**
 * Requires that a user exists, and that neither the user nor the user's organisation is being deleted. The commit fails
 * if the document of the user or of the organisation changes before the commit. Call this function before every write
 * that refers to a user. If the write commits before a deletion of the user, the deletion also removes the written
 * record. If the deletion commits before the write, the write fails.
 * @returns the id of the user's organisation
 * @throws IdentityError NOT_FOUND if the user does not exist or is being deleted
 */
export async function holdUser(transaction: Transaction, userId: string): Promise<string> {
  const { state, orgId = '' } = await requireUser(transaction, userId, ['state', 'orgId']);
  const [organisation] = await transaction.getMany([organisationKey(orgId)], ['partition']);
  const isOrganisationRemoved = organisation !== undefined && isInRemoval(organisation);
  if (state === DELETED || isOrganisationRemoved) throw userUnknown({ userId });
  transaction.hold([userKey(userId), organisationKey(orgId)]);
  return orgId;
}

/**
 * Requires that an organisation exists. The commit fails if the organisation's document changes before the commit.
 * @throws IdentityError NOT_FOUND if the organisation does not exist or is being removed
 */
export async function holdOrganisation(transaction: Transaction, orgId: string): Promise<void> {
  await requireOrganisation(transaction, orgId);
  transaction.hold([organisationKey(orgId)]);
}

/** @throws IdentityError NOT_FOUND if the organisation does not exist or is being removed */
export async function requireOrganisation(reader: Reader, orgId: string): Promise<void> {
  const [organisation] = await reader.getMany([organisationKey(orgId)], ['partition']);
  if (organisation === undefined || isInRemoval(organisation)) throw organisationUnknown({ orgId });
}

/**
 * This value of `lastImport` means that the organisation's records do not all come from a single export. A mirroring
 * import then replaces the records only if its request lists the organisation in `replace_changed`.
 */
export const UNKNOWN_IMPORT = 'unknown';

/**
 * Sets the last import of organisations to unknown. Call this function when some of their records are deleted.
 * Otherwise, a mirroring import of the export that was last imported would create the deleted records again.
 */
export async function forgetLastImport(transaction: Transaction, orgIds: Iterable<string>): Promise<void> {
  const keys = Array.from(new Set(orgIds), organisationKey);
  const organisations = await transaction.getMany(keys, ['lastImport']);
  const isKnown = (index: number) => (organisations[index]?.lastImport ?? UNKNOWN_IMPORT) !== UNKNOWN_IMPORT;
  const knownKeys = keys.filter((_, index) => isKnown(index));
  transaction.write(knownKeys.map((key) => ({ type: 'update', key, fields: { lastImport: UNKNOWN_IMPORT } })));
}

/**
 * @returns the person's new sequence number
 * @throws IdentityError NOT_FOUND if no person has this id; ALREADY_EXISTS if the person already has the OTP e-mail
 * factor
 */
export function enableOtpEmail(store: Store, userId: string, now: Date): Promise<number> {
  const key = userKey(userId);
  return store.transaction(async (transaction) => {
    const user = await requireUser(transaction, userId, ['otpEmail', 'sequence', 'partition', 'state']);
    if (user.state === DELETED || !isInSection(user.partition, humanUserSection)) throw userUnknown({ userId });
    if (user.otpEmail === true) throw otpEmailSet();
    const sequence = (user.sequence ?? 0) + 1;
    transaction.write([{ type: 'update', key, fields: { otpEmail: true, sequence, changedAt: now.toISOString() } }]);
    return sequence;
  });
}
