import { randomInt } from 'node:crypto';
import { readRecord, recordOf } from '../contract/record.ts';
import { createWrites, ownerOf, planRecord } from '../contract/recordPlan.ts';
import { organisationSection, sectionNamed } from '../contract/sections.ts';
import type { DocumentKey, Store, StoredDocument, Write } from '../store/store.ts';

/** A new id: 18 digits, as ZITADEL's are. */
export function newId(): string {
  return `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000_000, 999_999_999)}`;
}

/** The writes that create an organisation. */
export function organisationWrites(orgId: string, name: string, now: Date): Write[] {
  const json = { orgId, org: { name }, orgState: 'ORG_STATE_ACTIVE' };
  return createWrites(planRecord(recordOf(organisationSection, json, orgId, false), false), now.toISOString());
}

/**
 * The writes that create a service user with access token type Bearer (interface 5.3).
 * @param byDomain whether login names of its organisation carry the organisation's domain
 */
export function serviceUserWrites(userId: string, orgId: string, name: string, now: Date, byDomain: boolean): Write[] {
  const user = { userName: name, name, accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER' };
  const record = readRecord(sectionNamed('machineUsers'), { userId, user }, orgId);
  return createWrites(planRecord(record, byDomain), now.toISOString());
}

/** The names that a user holds. */
export async function userClaims(
  store: Store,
  { id, body = '{}', orgId = '' }: StoredDocument,
): Promise<DocumentKey[]> {
  const record = readRecord(sectionNamed('machineUsers'), JSON.parse(body), orgId);
  const keys = [true, false].flatMap((byDomain) => planRecord(record, byDomain).claims.map(({ key }) => key));
  const claims = await store.getMany(keys, ['ownerId']);
  return keys.filter((_, index) => claims[index]?.ownerId === ownerOf({ collection: 'users', id }));
}
