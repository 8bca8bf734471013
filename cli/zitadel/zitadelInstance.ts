// Facts about a ZITADEL instance and the caller.

import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import type { DomainPolicy } from '@zitadel/proto/zitadel/policy_pb.js';
import { z } from 'zod';
import { zitadelHostUnknown } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import {
  type ReleaseRange,
  releasesWithoutStates,
  releasesWithStates,
} from '../../shared/organisation/zitadelReleases.ts';
import type { PlaceFacts, Recognised } from '../exports/placeInterfaces.ts';
import { requireContent, rpcClient } from './rpc.ts';
import { messageIn, send, type ZitadelConnection, type ZitadelServer } from './zitadelConnection.ts';

/** A ZITADEL instance, as it describes itself to a caller with permission to read it. */
type ZitadelInstance = Pick<PlaceFacts, 'version' | 'instance' | 'instanceId' | 'defaultOrgId' | 'defaultOrgName'> &
  Required<Pick<PlaceFacts, 'domains'>>;

// Other OpenID providers have other paths.
const configuration = z.looseObject({ token_endpoint: z.string().endsWith('/oauth/v2/token') });

const RELEASE = /^v?\d+\.\d+\.\d+/;

/** Matches ZITADEL's response to a request for a host that none of its instances has. */
const UNKNOWN_HOST = /\(ExternalDomain is /;

/**
 * Recognises ZITADEL by its OpenID configuration. Sends no token.
 * @returns the reason if the server is not ZITADEL
 * @throws IdentityError ZITADEL_HOST_UNKNOWN if it does not serve the host of the address
 */
export async function recogniseZitadel(connection: ZitadelServer): Promise<Recognised | string> {
  const path = '/.well-known/openid-configuration';
  const { status, text } = await send(connection, { method: 'GET', path });
  const message = messageIn(text).replaceAll(/\s+/g, ' ').trim();
  if (UNKNOWN_HOST.test(message)) throw zitadelHostUnknown({ url: connection.origin, message });
  if (status !== 200) return `${path} returns ${status}${message === '' ? '' : `: ${message}`}`;
  return configuration.safeParse(parseIfJson(text)).success
    ? { service: 'zitadel', version: undefined }
    : `${path} describes another service`;
}

/**
 * Returns the releases that ZITADEL may have, by whether it imports and exports the states of organisations and users.
 * Ignores its version number, because it is not always known, and because a patch of any release may refuse hashes.
 * Instead, sends an import that every release rejects, without a token and over REST: the gateway rejects the first
 * known field that it cannot parse. Releases 2 and 3 do not have the field of the state, and skip it. Protobuf skips a
 * known enumeration of another type too, so gRPC-Web shows no difference.
 */
export async function readReleases(connection: ZitadelServer): Promise<ReleaseRange> {
  const body = '{"dataOrgs":{"orgs":[{"orgState":true}]},"timeout":true}';
  const response = await send(connection, { method: 'POST', path: '/admin/v1/import', body });
  const isKnown = response.status === 400 && messageIn(response.text).includes('orgState');
  return isKnown ? releasesWithStates : releasesWithoutStates;
}

/** Reads the facts about a ZITADEL instance. */
export async function readInstance(connection: ZitadelConnection): Promise<ZitadelInstance> {
  const admin = rpcClient(connection, AdminService);
  const { getMyInstance, getDefaultOrg } = AdminService.method;
  const instance = requireContent(connection, getMyInstance, (await admin.getMyInstance({})).instance);
  const org = requireContent(connection, getDefaultOrg, (await admin.getDefaultOrg({})).org);
  // The primary domain comes first. ZITADEL derives the domains of organisations from it.
  const domains = instance.domains.toSorted((a, b) => Number(b.primary) - Number(a.primary));
  return {
    // Some builds report their build time as the version.
    version: RELEASE.test(instance.version) ? instance.version : undefined,
    instance: instance.name,
    instanceId: instance.id,
    defaultOrgId: org.id,
    defaultOrgName: org.name,
    domains: domains.map(({ domain }) => domain),
  };
}

/** Reads the domain policy of the instance. It applies to organisations without their own policy. */
export async function readDomainPolicy(connection: ZitadelConnection): Promise<DomainPolicy> {
  const { policy } = await rpcClient(connection, AdminService).getDomainPolicy({});
  return requireContent(connection, AdminService.method.getDomainPolicy, policy);
}

/** Reads the user of the token, and the user's roles in the instance. */
export async function readCaller(connection: ZitadelConnection): Promise<NonNullable<PlaceFacts['caller']>> {
  const auth = rpcClient(connection, AuthService);
  const { getMyUser } = AuthService.method;
  const { id, details } = requireContent(connection, getMyUser, (await auth.getMyUser({})).user);
  // An importer owns every organisation that it imported. Without the query, these memberships would fill the first
  // pages.
  const { result } = await auth.listMyMemberships({
    query: { limit: 10 },
    queries: [{ query: { case: 'iamQuery', value: { iam: true } } }],
  });
  return {
    userId: id,
    orgId: requireContent(connection, getMyUser, details).resourceOwner,
    roles: result.filter(({ type }) => type.case === 'iam' && type.value).flatMap(({ roles }) => roles),
  };
}
