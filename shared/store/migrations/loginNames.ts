import { z } from 'zod';
import { type DocumentKey, documentId, documentPath, type StoredDocument } from '../store.ts';
import { sharedName } from './claimName.ts';
import type { MigrationBatch, MigrationStep, SharedName } from './migration.ts';

/*
 * Until format 2, the stored domain policy alone said in which scope an organisation's login names are unique. A policy
 * could arrive after the users, or contradict another one of the same file, so claims of one organisation lay in both
 * scopes. Format 3 settles each scope by a claim of its own, and all names of an organisation are claimed in it.
 */

const organisationKey = (orgId: string): DocumentKey => ({ collection: 'organisations', id: documentId(orgId) });

/** Returns the key of the claim that settles an organisation's scope. */
export const scopeKey = (orgId: string): DocumentKey => ({
  collection: 'claims',
  id: documentId('loginNameScope', orgId),
});

const policyBody = z.looseObject({ userLoginMustBeDomain: z.boolean().optional() });

/** Settles the scope of organisations whose domain policy makes login names carry the domain. */
export const settlePolicyScopes: MigrationStep = {
  name: '3: login names in the scope of their domain policies',
  collection: 'settings',
  fields: ['partition', 'orgId', 'body'],
  dependencies: (policy) => (isByDomain(policy) ? [scopeKey(policy.orgId ?? '')] : []),
  migrate: (policy, batch) => {
    if (!isByDomain(policy)) return undefined;
    const { id, orgId = '' } = policy;
    const ownerId = documentPath({ collection: 'settings', id });
    if (batch.find(scopeKey(orgId)) === undefined) batch.create(scopeKey(orgId), { orgId, ownerId });
    return undefined;
  },
};

function isByDomain({ partition = '', body = '{}' }: StoredDocument): boolean {
  return partition.startsWith('domainPolicy/') && policyBody.parse(JSON.parse(body)).userLoginMustBeDomain === true;
}

/** The body of a user, as far as it concerns its login name. */
export const userBody = z.looseObject({ user: z.looseObject({ userName: z.string().default('') }) });

/** The sections of users, and the partition of service users in deletion. */
const USER_PARTITIONS = ['humanUsers/', 'machineUsers/', 'deletedUsers/'];

/** Whether a document of `users` holds a login name. */
export function isUser({ partition = '' }: StoredDocument): boolean {
  return USER_PARTITIONS.some((prefix) => partition.startsWith(prefix));
}

interface User {
  readonly orgId: string;
  readonly key: DocumentKey;
  readonly path: string;
  /** The claims of the user's name in both scopes. */
  readonly claims: { readonly instance: DocumentKey; readonly organisation: DocumentKey };
}

function parseUser({ id, orgId = '', body = '{}' }: StoredDocument): User {
  const { user } = userBody.parse(JSON.parse(body));
  const claim = (...scope: readonly string[]): DocumentKey => ({
    collection: 'claims',
    id: documentId('userName', ...scope, user.userName.toLowerCase()),
  });
  const key: DocumentKey = { collection: 'users', id };
  return { orgId, key, path: documentPath(key), claims: { instance: claim(), organisation: claim(orgId) } };
}

/**
 * Moves the claims of login names into the scope of their organisation, each in one commit. A user keeps its older claim
 * where another user holds the name in that scope.
 */
export const moveLoginNames: MigrationStep = {
  name: '3: claims of login names',
  collection: 'users',
  fields: ['partition', 'orgId', 'body'],
  dependencies: (document) => {
    if (!isUser(document)) return [];
    const { orgId, claims } = parseUser(document);
    return [scopeKey(orgId), claims.instance, claims.organisation];
  },
  migrate: (document, batch) => (isUser(document) ? moveClaim(parseUser(document), batch) : undefined),
};

function moveClaim(user: User, batch: MigrationBatch): SharedName | undefined {
  const scope = settleScope(user.orgId, batch);
  const [claim, older] =
    scope === 'instance'
      ? [user.claims.instance, user.claims.organisation]
      : [user.claims.organisation, user.claims.instance];
  const holder = batch.find(claim);
  if (holder === undefined) batch.create(claim, { orgId: user.orgId, ownerId: user.path });
  else if (holder.ownerId !== user.path) return sharedName(user.orgId, user.key, holder.ownerId);
  if (batch.find(older)?.ownerId === user.path) batch.delete(older);
  return undefined;
}

function settleScope(orgId: string, batch: MigrationBatch): 'instance' | 'organisation' {
  const ownerId = documentPath(organisationKey(orgId));
  const scope = batch.find(scopeKey(orgId));
  if (scope === undefined) batch.create(scopeKey(orgId), { orgId, ownerId });
  return scope === undefined || scope.ownerId === ownerId ? 'instance' : 'organisation';
}
