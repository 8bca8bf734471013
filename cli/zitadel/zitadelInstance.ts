import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import type { DomainPolicy } from '@zitadel/proto/zitadel/policy_pb.js';
import { z } from 'zod';
import { zitadelHostUnknown } from '../../shared/errors/placeErrors.ts';
import { type RecordWarning, warn } from '../../shared/errors/warnings.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import {
  allReleases,
  describeKnownReleases,
  isNewerVersion,
  type ReleaseRange,
  releasesOfVersion,
  type SignedReleases,
  signedReleases,
} from '../../shared/organisation/zitadelReleases.ts';
import type { PlaceFacts, Recognised } from '../exports/placeInterfaces.ts';
import { errorIds, hasErrorId } from './errorIds.ts';
import { requireContent, rpcClient } from './rpc.ts';
import { messageIn, send, type ZitadelConnection, type ZitadelServer } from './zitadelConnection.ts';

/** Facts about an instance of ZITADEL. Only some roles permit reading these facts. */
type ZitadelInstance = Pick<PlaceFacts, 'version' | 'instance' | 'instanceId' | 'defaultOrgId' | 'defaultOrgName'> &
  Required<Pick<PlaceFacts, 'domains'>>;

const CONFIGURATION_PATH = '/.well-known/openid-configuration';

// The path of the token endpoint shows that the server is ZITADEL, because other OpenID providers use other paths.
const configuration = z.looseObject({ token_endpoint: z.string().endsWith('/oauth/v2/token') });

const RELEASE = /^v?\d+\.\d+\.\d+/;

/**
 * Finds out, from the OpenID configuration of a server, whether the server is ZITADEL. Does not send the token.
 * @returns a text with the reason if the server is not ZITADEL
 * @throws IdentityError ZITADEL_HOST_UNKNOWN if ZITADEL has no instance for the host of the address
 */
export async function recogniseZitadel(connection: ZitadelServer): Promise<Recognised | string> {
  const path = CONFIGURATION_PATH;
  const { status, text } = await send(connection, { method: 'GET', path });
  const message = messageIn(text).replaceAll(/\s+/g, ' ').trim();
  if (hasErrorId(message, errorIds.unknownHost)) throw zitadelHostUnknown({ url: connection.origin, message });
  if (status !== 200) return `${path} returns ${status}${message === '' ? '' : `: ${message}`}`;
  return configuration.safeParse(parseIfJson(text)).success
    ? { service: 'zitadel', version: undefined }
    : `${path} describes another service`;
}

/** Reads the time of ZITADEL's clock, because responses over gRPC-Web do not contain this time. */
export async function readServerTime(connection: ZitadelServer): Promise<Date> {
  return (await send(connection, { method: 'GET', path: CONFIGURATION_PATH })).time;
}

export interface RecognisedReleases {
  readonly releases: ReleaseRange;
  /**
   * A warning if the command does not know ZITADEL's release. It explains what the command assumes about this release,
   * and why.
   */
  readonly assumption?: RecordWarning;
}

/**
 * Finds out which release ZITADEL has, from the fields that its imports know. Each release has a field that older
 * releases lack. Beginning with the newest release, sends an import with this field over REST. The request has no
 * token, and the value of the field has the wrong type. If ZITADEL knows the field, its gateway cannot parse the value,
 * and responds with 400. Otherwise, ZITADEL ignores the field, and responds with 401. gRPC-Web would not show the
 * difference, because protobuf ignores an enumeration of the wrong type even in a known field. The version of the
 * instance is not enough: it is not always known, and a patch of any release may begin to reject hashes. But if the
 * fields allow several major releases, the version decides between them.
 */
export async function readReleases(
  connection: ZitadelServer,
  version: string | undefined,
): Promise<RecognisedReleases> {
  const { newestFirst, oldest } = signedReleases();
  for (const { sign, releases } of newestFirst) {
    const status = await statusOf(connection, sign);
    if (status === 400) return known(releases, `have the field ${sign.field}`, version);
    if (status !== 401)
      return { releases: allReleases, assumption: warn('release_unknown', { call: `POST ${IMPORT_PATH}`, status }) };
  }
  return known(oldest, `lack the field ${newestFirst.at(-1)?.sign.field}`, version);
}

const IMPORT_PATH = '/admin/v1/import';

/**
 * Returns the status of the response to an import without a token. The import would fail even with a token, because its
 * organisation has an empty name.
 */
async function statusOf(connection: ZitadelServer, { organisation }: SignedReleases['sign']): Promise<number> {
  const body = JSON.stringify({ dataOrgs: { orgs: [{ org: { name: '' }, ...organisation }] } });
  return (await send(connection, { method: 'POST', path: IMPORT_PATH, body })).status;
}

/**
 * Returns the releases that ZITADEL may have. If ZITADEL's version is newer than all releases that the command knows,
 * returns the given releases with a warning.
 */
function known(releases: ReleaseRange, seen: string, version: string | undefined): RecognisedReleases {
  if (version === undefined) return { releases };
  if (!isNewerVersion(version)) return { releases: releasesOfVersion(version, releases) };
  const assumption = warn('release_newer', { version, releases: describeKnownReleases(releases), seen });
  return { releases, assumption };
}

export async function readInstance(connection: ZitadelConnection): Promise<ZitadelInstance> {
  const admin = rpcClient(connection, AdminService);
  const { getMyInstance, getDefaultOrg } = AdminService.method;
  const instance = requireContent(connection, getMyInstance, (await admin.getMyInstance({})).instance);
  const org = requireContent(connection, getDefaultOrg, (await admin.getDefaultOrg({})).org);
  // The primary domain comes first, because ZITADEL derives the domains of organisations from it.
  const domains = instance.domains.toSorted((a, b) => Number(b.primary) - Number(a.primary));
  return {
    // Some builds of ZITADEL return the time of the build in place of a version.
    version: RELEASE.test(instance.version) ? instance.version : undefined,
    instance: instance.name,
    instanceId: instance.id,
    defaultOrgId: org.id,
    defaultOrgName: org.name,
    domains: domains.map(({ domain }) => domain),
  };
}

/** Reads the instance's domain policy. It applies to organisations that have no domain policy of their own. */
export async function readDomainPolicy(connection: ZitadelConnection): Promise<DomainPolicy> {
  const { policy } = await rpcClient(connection, AdminService).getDomainPolicy({});
  return requireContent(connection, AdminService.method.getDomainPolicy, policy);
}

export async function readCaller(connection: ZitadelConnection): Promise<NonNullable<PlaceFacts['caller']>> {
  const auth = rpcClient(connection, AuthService);
  const { getMyUser } = AuthService.method;
  const { id, details } = requireContent(connection, getMyUser, (await auth.getMyUser({})).user);
  // The query leaves out memberships in organisations. ZITADEL makes the user an owner of every organisation that the
  // user imports, so these memberships would fill the first pages.
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
