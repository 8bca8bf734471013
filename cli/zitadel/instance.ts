import { ConnectError, createClient } from '@connectrpc/connect';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { AuthenticationMethodType, UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { clockAhead, type PlaceFacts } from '../places/place.ts';
import { messageIn, request, search, send, type ZitadelConnection } from './connection.ts';
import { callMethod, rpcError, rpcTransport, searchAll } from './rpc.ts';

/** A ZITADEL's instance, as it describes itself to a caller who may read it. */
type ZitadelInstance = Pick<PlaceFacts, 'version' | 'instance' | 'instanceId' | 'defaultOrgId' | 'defaultOrgName'> &
  Required<Pick<PlaceFacts, 'domains'>>;

interface Caller extends NonNullable<PlaceFacts['caller']> {
  readonly userName: string;
  readonly isServiceUser: boolean;
  readonly createdAt: string;
}

// Other OpenID providers have other paths.
const configuration = z.looseObject({ token_endpoint: z.string().endsWith('/oauth/v2/token') });
const instanceAnswer = z.looseObject({
  instance: z.looseObject({
    id: z.string().optional(),
    name: z.string().default(''),
    version: z.string().default(''),
    domains: z.array(z.looseObject({ domain: z.string(), primary: z.boolean().default(false) })).default([]),
  }),
});
const defaultOrganisation = z.looseObject({ org: z.looseObject({ id: z.string(), name: z.string() }) });
const userAnswer = z.looseObject({
  user: z.looseObject({
    id: z.string(),
    userName: z.string(),
    details: z.looseObject({ resourceOwner: z.string(), creationDate: z.string() }),
    machine: z.looseObject({}).optional(),
  }),
});
const membershipsAnswer = z.looseObject({
  result: z.array(z.looseObject({ roles: z.array(z.string()).default([]), iam: z.boolean().optional() })).default([]),
});
const ownOrganisation = z.looseObject({ org: z.looseObject({ name: z.string() }) });
const instanceMember = z.looseObject({ userId: z.string(), roles: z.array(z.string()).default([]) });
const RELEASE = /^v?\d+\.\d+\.\d+/;

/** Recognises a ZITADEL by its OpenID configuration, without a token; undefined for any other server. */
export async function recogniseZitadel(
  connection: ZitadelConnection,
): Promise<Pick<PlaceFacts, 'clockAheadMs'> | undefined> {
  const path = '/.well-known/openid-configuration';
  const answer = await send({ ...connection, token: undefined }, { method: 'GET', path });
  const isZitadel = answer.status === 200 && configuration.safeParse(parseIfJson(answer.text)).success;
  return isZitadel ? { clockAheadMs: clockAhead(answer.date) } : undefined;
}

/**
 * Whether a ZITADEL imports and exports the states of organisations and users. Its release is not always known, so this
 * sends an import that no release takes, without a token: the gateway rejects the first field that it knows and cannot
 * read. Releases 2 and 3 skip the state, which they do not know.
 */
export async function importsStates(connection: ZitadelConnection): Promise<boolean> {
  const body = '{"dataOrgs":{"orgs":[{"orgState":true}]},"timeout":true}';
  const answer = await send({ ...connection, token: undefined }, { method: 'POST', path: '/admin/v1/import', body });
  return answer.status === 400 && messageIn(answer.text).includes('orgState');
}

/** Reads what a ZITADEL says of its instance. */
export async function readInstance(connection: ZitadelConnection): Promise<ZitadelInstance> {
  const { instance } = await request(connection, { method: 'GET', path: '/admin/v1/instances/me' }, instanceAnswer);
  const { org } = await request(connection, { method: 'GET', path: '/admin/v1/orgs/default' }, defaultOrganisation);
  // The primary domain first: a ZITADEL makes each organisation's own domain of it.
  const domains = instance.domains.toSorted((a, b) => Number(b.primary) - Number(a.primary));
  return {
    // Some name their build's time instead.
    version: RELEASE.test(instance.version) ? instance.version : undefined,
    instance: instance.name,
    instanceId: instance.id,
    defaultOrgId: org.id,
    defaultOrgName: org.name,
    domains: domains.map(({ domain }) => domain),
  };
}

/** Reads whose token it is, and the user's roles in the instance. */
export async function readCaller(connection: ZitadelConnection): Promise<Caller> {
  const { user } = await request(connection, { method: 'GET', path: '/auth/v1/users/me' }, userAnswer);
  // Importers own every organisation that they imported: without the query, these fill the first pages.
  const body = JSON.stringify({ query: { limit: 10 }, queries: [{ iamQuery: { iam: true } }] });
  const path = '/auth/v1/memberships/me/_search';
  const { result } = await request(connection, { method: 'POST', path, body }, membershipsAnswer);
  return {
    userId: user.id,
    userName: user.userName,
    orgId: user.details.resourceOwner,
    isServiceUser: user.machine !== undefined,
    createdAt: user.details.creationDate,
    roles: result.filter(({ iam }) => iam === true).flatMap(({ roles }) => roles),
  };
}

/** Reads the name of the organisation that the token's user belongs to. */
export async function readOwnOrganisation(connection: ZitadelConnection): Promise<string> {
  const { org } = await request(connection, { method: 'GET', path: '/management/v1/orgs/me' }, ownOrganisation);
  return org.name;
}

/** Counts the personal access tokens of a service user. */
export async function countTokens(connection: ZitadelConnection, userId: string): Promise<number> {
  const management = createClient(ManagementService, rpcTransport(connection));
  return (await searchAll((query) => management.listPersonalAccessTokens({ userId, query }))).length;
}

/** Lists the users with the role IAM_OWNER. */
export async function listOwners(connection: ZitadelConnection): Promise<string[]> {
  const path = '/admin/v1/members/_search';
  const members = await Array.fromAsync(search(connection, { path, result: instanceMember }));
  return members.filter(({ roles }) => roles.includes('IAM_OWNER')).map(({ userId }) => userId);
}

const ASKED_AT_ONCE = 8;

/** Returns those of some people for whom a ZITADEL does not name TOTP as a way to log in. */
export async function withoutTotp(connection: ZitadelConnection, userIds: readonly string[]): Promise<Set<string>> {
  const users = createClient(UserService, rpcTransport(connection));
  const found = new Set<string>();
  const remaining = userIds.values();
  const ask = async () => {
    for (const userId of remaining) {
      const { authMethodTypes } = await users.listAuthenticationMethodTypes({ userId });
      if (!authMethodTypes.includes(AuthenticationMethodType.TOTP)) found.add(userId);
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
  return found;
}

/** Deletes a service user, with its tokens and memberships: those in the organisations too, which an import gave it. */
export async function deleteServiceUser(connection: ZitadelConnection, userId: string): Promise<void> {
  const method = UserService.method.deleteUser;
  await callMethod(connection, method, { userId }).catch((error: unknown) => {
    // An attempt without answer may have deleted it. A caller without membership gets "not found" as well.
    const isGone = error instanceof ConnectError && error.rawMessage.includes('COMMAND-bd4ir1mblj');
    if (!isGone) throw rpcError(connection, method, error);
  });
}
