// Facts about a ZITADEL instance and the caller.

import { z } from 'zod';
import { zitadelHostUnknown } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import type { PlaceFacts, Recognised } from '../exports/placeInterfaces.ts';
import { messageIn, request, send, type ZitadelConnection } from './zitadelConnection.ts';

/** A ZITADEL's instance, as it describes itself to a caller who may read it. */
type ZitadelInstance = Pick<PlaceFacts, 'version' | 'instance' | 'instanceId' | 'defaultOrgId' | 'defaultOrgName'> &
  Required<Pick<PlaceFacts, 'domains'>>;

// Other OpenID providers have other paths.
const configuration = z.looseObject({ token_endpoint: z.string().endsWith('/oauth/v2/token') });
const instanceResponse = z.looseObject({
  instance: z.looseObject({
    id: z.string().optional(),
    name: z.string().default(''),
    version: z.string().default(''),
    domains: z.array(z.looseObject({ domain: z.string(), primary: z.boolean().default(false) })).default([]),
  }),
});
const defaultOrganisationResponse = z.looseObject({ org: z.looseObject({ id: z.string(), name: z.string() }) });
const userResponse = z.looseObject({
  user: z.looseObject({
    id: z.string(),
    details: z.looseObject({ resourceOwner: z.string() }),
  }),
});
const membershipsResponse = z.looseObject({
  result: z.array(z.looseObject({ roles: z.array(z.string()).default([]), iam: z.boolean().optional() })).default([]),
});
const booleanField = z.boolean().default(false);
const policyResponse = z.looseObject({
  policy: z.object({
    userLoginMustBeDomain: booleanField,
    validateOrgDomains: booleanField,
    smtpSenderAddressMatchesInstanceDomain: booleanField,
  }),
});

/** The domain policy of a ZITADEL's instance, which applies to organisations without their own. */
export type DomainPolicy = z.infer<typeof policyResponse>['policy'];

const RELEASE = /^v?\d+\.\d+\.\d+/;

/** Matches the response of a ZITADEL to a request for a host that none of its instances has. */
const UNKNOWN_HOST = /\(ExternalDomain is /;

/**
 * Recognises a ZITADEL by its OpenID configuration. Sends no token.
 * @returns the reason if the server is no ZITADEL
 * @throws IdentityError ZITADEL_HOST_UNKNOWN if it does not serve the host of the address
 */
export async function recogniseZitadel(connection: ZitadelConnection): Promise<Recognised | string> {
  const path = '/.well-known/openid-configuration';
  const { status, text } = await send({ ...connection, token: undefined }, { method: 'GET', path });
  const message = messageIn(text).replaceAll(/\s+/g, ' ').trim();
  if (UNKNOWN_HOST.test(message)) throw zitadelHostUnknown({ url: connection.origin, message });
  if (status !== 200) return `${path} returns ${status}${isPage(text) ? '' : `: ${message}`}`;
  return configuration.safeParse(parseIfJson(text)).success
    ? { service: 'zitadel', version: undefined }
    : `${path} describes another service`;
}

/** Whether a response has no message for people: it is empty, or a page for browsers. */
function isPage(text: string): boolean {
  return /^\s*(?:<|$)/.test(text);
}

/**
 * Whether a ZITADEL imports and exports the states of organisations and users. Its release is not always known, so this
 * sends an import that no release takes, without a token: the gateway rejects the first known field that it cannot
 * parse. Releases 2 and 3 skip the state, which is unknown to them.
 */
export async function importsStates(connection: ZitadelConnection): Promise<boolean> {
  const body = '{"dataOrgs":{"orgs":[{"orgState":true}]},"timeout":true}';
  const response = await send({ ...connection, token: undefined }, { method: 'POST', path: '/admin/v1/import', body });
  return response.status === 400 && messageIn(response.text).includes('orgState');
}

/** Reads the facts about a ZITADEL instance. */
export async function readInstance(connection: ZitadelConnection): Promise<ZitadelInstance> {
  const { instance } = await request(connection, { method: 'GET', path: '/admin/v1/instances/me' }, instanceResponse);
  const { org } = await request(
    connection,
    { method: 'GET', path: '/admin/v1/orgs/default' },
    defaultOrganisationResponse,
  );
  // The primary domain first, from which a ZITADEL derives the domains of organisations.
  const domains = instance.domains.toSorted((a, b) => Number(b.primary) - Number(a.primary));
  return {
    // Some builds report their build time instead.
    version: RELEASE.test(instance.version) ? instance.version : undefined,
    instance: instance.name,
    instanceId: instance.id,
    defaultOrgId: org.id,
    defaultOrgName: org.name,
    domains: domains.map(({ domain }) => domain),
  };
}

/** Reads the domain policy of the instance. */
export async function readDomainPolicy(connection: ZitadelConnection): Promise<DomainPolicy> {
  return (await request(connection, { method: 'GET', path: '/admin/v1/policies/domain' }, policyResponse)).policy;
}

/** Reads the user of the token, and the user's roles in the instance. */
export async function readCaller(connection: ZitadelConnection): Promise<NonNullable<PlaceFacts['caller']>> {
  const { user } = await request(connection, { method: 'GET', path: '/auth/v1/users/me' }, userResponse);
  // Importers own every organisation that they imported: without the query, these fill the first pages.
  const body = JSON.stringify({ query: { limit: 10 }, queries: [{ iamQuery: { iam: true } }] });
  const path = '/auth/v1/memberships/me/_search';
  const { result } = await request(connection, { method: 'POST', path, body }, membershipsResponse);
  return {
    userId: user.id,
    orgId: user.details.resourceOwner,
    roles: result.filter(({ iam }) => iam === true).flatMap(({ roles }) => roles),
  };
}
