import { randomInt } from 'node:crypto';
import { userKey } from '../auth/authorise.ts';
import { otpEmailSet, userUnknown } from '../errors/accountErrors.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { readRecord, toRecord } from '../organisation/record.ts';
import { createWrites, planRecord } from '../organisation/recordPlan.ts';
import { isInSection } from '../organisation/section.ts';
import { humanUserSection, machineUserSection } from '../organisation/sections/users.ts';
import { organisationSection, policyKey } from '../organisation/sections.ts';
import type { FieldName } from '../store/documentFields.ts';
import type { DocumentKey, Store, StoredDocument, Write } from '../store/store.ts';
import { documentPath } from '../store/store.ts';

/** Generates an id of 18 digits, in the format of ZITADEL's ids. */
export function generateId(): string {
  return `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000_000, 999_999_999)}`;
}

/** Builds the writes that create an organisation. */
export function organisationWrites(orgId: string, name: string, now: Date): Write[] {
  const json = { orgId, org: { name }, orgState: 'ORG_STATE_ACTIVE' };
  return createWrites(planRecord(toRecord(organisationSection, json, orgId, false), false), now.toISOString());
}

/**
 * Builds the writes that create a service user with access token type Bearer (specification 5.3).
 * @param byDomain whether the organisation's login names carry its domain
 */
export function serviceUserWrites(userId: string, orgId: string, name: string, now: Date, byDomain: boolean): Write[] {
  const user = { userName: name, name, accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER' };
  const record = readRecord(machineUserSection, { userId, user }, orgId);
  return createWrites(planRecord(record, byDomain), now.toISOString());
}

/** Finds the claims of a service user's unique names. */
export async function userClaims(
  store: Store,
  { id, body = '{}', orgId = '' }: StoredDocument,
): Promise<DocumentKey[]> {
  const record = readRecord(machineUserSection, JSON.parse(body), orgId);
  const keys = [true, false].flatMap((byDomain) => planRecord(record, byDomain).claims.map(({ key }) => key));
  const claims = await store.getMany(keys, ['ownerId']);
  return keys.filter((_, index) => claims[index]?.ownerId === documentPath({ collection: 'users', id }));
}

/**
 * Reads a user, person or service user.
 * @throws IdentityError NOT_FOUND naming the id
 */
export async function requireUser(store: Store, userId: string, fields: readonly FieldName[]): Promise<StoredDocument> {
  const [user] = await store.getMany([userKey(userId)], fields);
  if (user === undefined) throw userUnknown(userId);
  return user;
}

/** Whether an organisation's login names carry its domain, according to its domain policy (zitadel 3.4). */
export async function loginNamesByDomain(store: Store, orgId: string): Promise<boolean> {
  const [stored] = await store.getMany([policyKey(orgId, 'loginNames')], ['body']);
  const policy: unknown = JSON.parse(stored?.body ?? 'null');
  return isJsonObject(policy) && policy.userLoginMustBeDomain === true;
}

/**
 * Adds the OTP e-mail factor to a person in one transaction.
 * @returns the person's sequence after the change
 * @throws IdentityError NOT_FOUND when no person has this id, ALREADY_EXISTS when the person has the factor
 */
export function enableOtpEmail(store: Store, userId: string, now: Date): Promise<number> {
  const key = userKey(userId);
  return store.transaction(async (transaction) => {
    const [user] = await transaction.getMany([key], ['otpEmail', 'sequence', 'partition']);
    if (user === undefined || !isInSection(user.partition, humanUserSection)) throw userUnknown(userId);
    if (user.otpEmail === true) throw otpEmailSet();
    const sequence = (user.sequence ?? 0) + 1;
    transaction.write([{ type: 'update', key, fields: { otpEmail: true, sequence, changedAt: now.toISOString() } }]);
    return sequence;
  });
}
