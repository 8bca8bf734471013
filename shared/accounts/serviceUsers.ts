import { instanceMemberKey, userKey } from '../auth/authorise.ts';
import { tokenKey } from '../auth/token.ts';
import { notServiceUser, organisationUnknown, userNameTaken } from '../errors/accountErrors.ts';
import { defaultOrganisation } from '../instance.ts';
import { isJsonObject, textAt } from '../json/jsonObject.ts';
import { isInSection, type Section, sectionPartition } from '../organisation/section.ts';
import { machineUserSection } from '../organisation/sections/users.ts';
import { organisationSection, sections } from '../organisation/sections.ts';
import {
  type DocumentKey,
  documentId,
  type Snapshot,
  type Store,
  type StoredDocument,
  WriteConflictError,
} from '../store/store.ts';
import { listTokens } from './personalAccessTokens.ts';
import { generateId, loginNamesByDomain, requireUser, serviceUserWrites, userClaims } from './users.ts';

/**
 * Creates a service user.
 * @param orgId the user's organisation; by default the default organisation
 * @returns the user's id
 * @throws IdentityError NOT_FOUND for an unknown organisation, ALREADY_EXISTS for a user name that is taken
 */
export async function createServiceUser(
  store: Store,
  name: string,
  orgId: string | undefined,
  now: Date,
): Promise<string> {
  const userId = generateId();
  const owner = await requireOrganisation(store, orgId ?? (await defaultOrganisation(store)));
  try {
    const byDomain = await loginNamesByDomain(store, owner);
    await store.commit(serviceUserWrites(userId, owner, name, now, byDomain));
  } catch (error) {
    if (error instanceof WriteConflictError) throw userNameTaken(name);
    throw error;
  }
  return userId;
}

/**
 * Deletes a service user with its names, tokens, instance membership and the records that refer to it.
 * @throws IdentityError NOT_FOUND for an unknown user, FAILED_PRECONDITION for a person
 */
export async function deleteServiceUser(store: Store, userId: string): Promise<void> {
  const user = await requireUser(store, userId, ['orgId', 'partition', 'body']);
  if (!isInSection(user.partition, machineUserSection)) throw notServiceUser(userId);
  const tokens = await listTokens(store, userId);
  const keys = [
    userKey(userId),
    ...(await userClaims(store, user)),
    instanceMemberKey(userId),
    ...tokens.map(({ tokenId }) => tokenKey(tokenId)),
    ...(await findReferringRecords(store, userId, user.orgId ?? '')),
  ];
  await store.commit(keys.map((key) => ({ type: 'delete', key })));
}

async function requireOrganisation(store: Store, orgId: string): Promise<string> {
  const [found] = await store.getMany(
    [{ collection: organisationSection.collection, id: documentId(orgId) }],
    ['orgId'],
  );
  if (found === undefined) throw organisationUnknown(orgId);
  return orgId;
}

/** Finds an organisation's records that refer to one of its users: memberships, grants, metadata, links, keys. */
async function findReferringRecords(store: Store, userId: string, orgId: string): Promise<DocumentKey[]> {
  await using snapshot = await store.snapshot();
  const keys: DocumentKey[] = [];
  for (const section of sections) {
    for (const path of userPaths(section)) keys.push(...(await findMatches(snapshot, section, path, userId, orgId)));
  }
  return keys;
}

function userPaths({ references = [] }: Section): string[] {
  return references.filter(({ collection }) => collection === 'users').flatMap(({ key }) => key);
}

async function findMatches(
  snapshot: Snapshot,
  section: Section,
  path: string,
  userId: string,
  orgId: string,
): Promise<DocumentKey[]> {
  const { collection } = section;
  const keys: DocumentKey[] = [];
  const range = { collection, partition: sectionPartition(orgId, section), fields: ['body'] } as const;
  for await (const documents of snapshot.scan(range)) {
    const matches = documents.filter((document) => readText(document, path, orgId) === userId);
    keys.push(...matches.map(({ id }) => ({ collection, id })));
  }
  return keys;
}

function readText({ body = '{}' }: StoredDocument, path: string, orgId: string): string {
  const json: unknown = JSON.parse(body);
  return isJsonObject(json) ? textAt(json, path, orgId) : '';
}
