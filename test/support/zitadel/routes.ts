import { setTimeout } from 'node:timers/promises';
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import {
  ExportDataRequestSchema,
  ExportDataResponseSchema,
  ImportDataRequestSchema,
} from '@zitadel/proto/zitadel/admin_pb.js';
import { z } from 'zod';
import { type JsonObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { DEFAULT_ORGANISATION, type ReceivedRequest, type ZitadelBehaviour } from './behaviour.ts';
import { type Contents, elements, newId } from './contents.ts';
import { exportFrom, UnexportableError } from './exporting.ts';
import { DeadlineError, importAll } from './importing.ts';
import { grpcWeb, type Reply, replies } from './replies.ts';

/** What the routes of a stand-in work on. */
interface RoutePorts {
  readonly contents: Contents;
  readonly tokens: Map<string, string>;
  readonly requests: ReceivedRequest[];
  readonly behaviour: ZitadelBehaviour;
  /** The instance's id. */
  readonly id: string;
  readonly host: string;
}

/** A request as the routes see it. */
export interface Routed {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  readonly orgId: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string;
}

/** The process's end in the middle of a request. */
class DeathError extends Error {}

interface Called extends Routed {
  readonly callerId: string;
  readonly parts: readonly string[];
}

type Handler = (ports: RoutePorts, called: Called) => Reply | Promise<Reply>;

const INSTANCE = { name: 'ZITADEL', version: '2026-11-21T21:48:54Z' };
const lenient = { ignoreUnknownFields: true };
const json = (body: Buffer): JsonValue => z.json().parse(JSON.parse(body.toString()));
const page = z.looseObject({
  query: z.looseObject({ offset: z.coerce.number().default(0), limit: z.number().default(100) }).prefault({}),
});

const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['POST', /^\/admin\/v1\/import$/, importRoute],
  ['POST', /^\/admin\/v1\/export$/, exportRoute],
  ['POST', /^\/zitadel\.admin\.v1\.AdminService\/ExportData$/, rpcRoute],
  ['GET', /^\/auth\/v1\/users\/me$/, whoAmI],
  ['POST', /^\/auth\/v1\/memberships\/me\/_search$/, memberships],
  [
    'GET',
    /^\/admin\/v1\/instances\/me$/,
    ({ id, host }) => replies.found({ instance: { id, ...INSTANCE, domains: [{ domain: host, primary: true }] } }),
  ],
  ['GET', /^\/admin\/v1\/orgs\/default$/, () => replies.found({ org: { id: DEFAULT_ORGANISATION, name: 'ZITADEL' } })],
  ['POST', /^\/admin\/v1\/orgs\/_search$/, organisations],
  ['POST', /^\/management\/v1\/projectgrants\/_search$/, projectGrants],
  ['POST', /^\/management\/v1\/users\/grants\/_search$/, (ports, called) => records(ports, called, 'userGrants')],
  ['POST', /^\/management\/v1\/orgs\/me\/members\/_search$/, (ports, called) => records(ports, called, 'orgMembers')],
  [
    'POST',
    /^\/management\/v1\/projects\/([^/]+)\/members\/_search$/,
    (ports, called) => records(ports, called, 'projectMembers', { projectId: called.parts[0] }),
  ],
  [
    'POST',
    /^\/management\/v1\/projects\/([^/]+)\/grants\/([^/]+)\/members\/_search$/,
    (ports, called) => records(ports, called, 'projectGrantMembers', { grantId: called.parts[1] }),
  ],
  ['GET', /^\/management\/v1\/orgs\/me$/, ownOrganisation],
  ['POST', /^\/management\/v1\/users\/[^/]+\/pats\/_search$/, tokensOfUser],
  ['POST', /^\/admin\/v1\/members\/_search$/, owners],
  ['GET', /^\/v2\/users\/([^/]+)\/authentication_methods$/, authenticationMethods],
  ['DELETE', /^\/v2\/users\/([^/]+)$/, deleteUser],
];

/** Answers a request, and records it. */
export async function handle(ports: RoutePorts, routed: Routed): Promise<Reply> {
  const found = await answer(ports, routed).catch((error: unknown) => {
    if (error instanceof UnexportableError) return replies.unexportable;
    throw error;
  });
  const { path, orgId } = routed;
  ports.requests.push({ path, orgId, status: found.status, ...measure(routed) });
  return found;
}

async function answer(ports: RoutePorts, routed: Routed): Promise<Reply> {
  const { method, path, authorization, orgId, body } = routed;
  if (path === '/.well-known/openid-configuration')
    return replies.found({ issuer: 'http://localhost', token_endpoint: 'http://localhost/oauth/v2/token' });
  const [, pattern, handler] = routes.find((route) => route[0] === method && route[1].test(path)) ?? [];
  if (pattern === undefined || handler === undefined) return replies.notFound;
  // REST refuses a message's size before anybody asks for a token.
  const bytes = measure(routed).bytes ?? 0;
  const { maxMessageBytes } = ports.behaviour;
  if (bytes > maxMessageBytes) return replies.tooLarge(bytes, maxMessageBytes);
  if (authorization === undefined) return replies.noHeader;
  const [callerId] = [...ports.tokens].find(([, token]) => authorization === `Bearer ${token}`) ?? [];
  if (callerId === undefined) return replies.badToken;
  if (callerId !== 'owner' && !path.startsWith('/auth/')) return replies.noMembership;
  if (orgId !== undefined && !isVisible(ports, orgId)) return replies.noOrganisation;
  const parts = (pattern.exec(path) ?? []).slice(1).map((part) => decodeURIComponent(part));
  return handler(ports, { ...routed, body, callerId, parts });
}

function isVisible({ contents }: RoutePorts, orgId: string): boolean {
  return (contents.organisations.get(orgId)?.visibleAt ?? Infinity) <= performance.now();
}

function measure({ path, body }: Routed): { bytes?: number; records?: number } {
  if (path !== '/admin/v1/import') return {};
  const message = fromJson(ImportDataRequestSchema, json(body), lenient);
  const encoded = toJson(ImportDataRequestSchema, message);
  const lists = elements(valueAt(elements(encoded)[0] ?? {}, 'dataOrgs.orgs')).flatMap(Object.values);
  const records = lists.reduce((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return { bytes: toBinary(ImportDataRequestSchema, message).byteLength, records };
}

async function importRoute(ports: RoutePorts, { body, orgId, callerId }: Called): Promise<Reply> {
  const request =
    elements(toJson(ImportDataRequestSchema, fromJson(ImportDataRequestSchema, json(body), lenient)))[0] ?? {};
  const orgs = elements(valueAt(request, 'dataOrgs.orgs'));
  const seconds = /^(\d+)ms$/.exec(textAt(request, 'timeout', ''))?.[1];
  if (seconds === undefined) return replies.noTimeout;
  const secretless = orgs
    .flatMap((org) => elements(org.oidcIdps))
    .find((idp) => textAt(idp, 'idp.clientSecret', '') === '');
  if (secretless !== undefined)
    return replies.invalid(
      'invalid ImportDataRequest.DataOrgs: embedded message failed validation | caused by: invalid AddOrgOIDCIDPRequest.ClientSecret: value length must be between 1 and 200 runes, inclusive',
    );
  let writes = 0;
  const most = (Number(seconds) / 1_000) * ports.behaviour.recordsPerSecond;
  const write = () => {
    writes++;
    ports.behaviour.stallsAtWrite--;
    if (--ports.behaviour.diesAtWrite <= 0) throw new DeathError('the process dies');
    if (writes > most) throw new DeadlineError('context deadline exceeded');
  };
  try {
    const { contents, host } = ports;
    const run = { contents, contextOrgId: orgId ?? DEFAULT_ORGANISATION, host, callerId, write };
    const { errors, reached } = importAll(run, orgs);
    if (ports.behaviour.stallsAtWrite <= 0) await new Promise(() => {});
    const success = reached.length === 0 ? {} : { orgs: reached.map((id) => ({ orgId: id })) };
    return replies.found({ ...(errors.length === 0 ? {} : { errors }), success });
  } catch (error) {
    if (error instanceof DeadlineError) return replies.deadline;
    throw error;
  }
}

async function exportRoute(ports: RoutePorts, { body }: Called): Promise<Reply> {
  await setTimeout(ports.behaviour.exportMs);
  const message = exportMessage(ports, fromJson(ExportDataRequestSchema, json(body), lenient));
  const { byteLength } = toBinary(ExportDataResponseSchema, message);
  const { maxMessageBytes } = ports.behaviour;
  if (byteLength > maxMessageBytes) return replies.tooLarge(byteLength, maxMessageBytes);
  return replies.found(toJson(ExportDataResponseSchema, message));
}

function rpcRoute(ports: RoutePorts, { body }: Called): Reply {
  const message = exportMessage(ports, fromBinary(ExportDataRequestSchema, body.subarray(5)));
  return grpcWeb(toBinary(ExportDataResponseSchema, message));
}

function exportMessage({ contents }: RoutePorts, flags: Parameters<typeof exportFrom>[1]) {
  const orgs = exportFrom(contents, flags);
  return fromJson(ExportDataResponseSchema, z.json().parse(JSON.parse(JSON.stringify({ orgs }))), lenient);
}

function whoAmI({ contents, behaviour }: RoutePorts, { callerId }: Called): Reply {
  const details = { resourceOwner: contents.users.get(callerId), creationDate: behaviour.userCreatedAt };
  return replies.found({ user: { id: callerId, details, userName: callerId, machine: { name: callerId } } });
}

function memberships(_ports: RoutePorts, { callerId }: Called): Reply {
  const details = { viewTimestamp: new Date().toISOString() };
  if (callerId !== 'owner') return replies.found({ details });
  return replies.found({
    details,
    result: [{ userId: callerId, roles: ['IAM_OWNER'], displayName: 'ZITADEL', iam: true }],
  });
}

function ownOrganisation({ contents }: RoutePorts, { callerId, orgId }: Called): Reply {
  const id = orgId ?? contents.users.get(callerId) ?? DEFAULT_ORGANISATION;
  return replies.found({ org: { id, name: contents.organisations.get(id)?.name } });
}

function tokensOfUser({ behaviour }: RoutePorts, called: Called): Reply {
  return results(
    called,
    Array.from({ length: behaviour.tokensOfUser }, () => ({ id: newId() })),
  );
}

function owners({ behaviour }: RoutePorts, called: Called): Reply {
  return results(
    called,
    behaviour.owners.map((userId) => ({ userId, roles: ['IAM_OWNER'] })),
  );
}

function organisations(ports: RoutePorts, called: Called): Reply {
  const all = [...ports.contents.organisations.values()].filter(({ orgId }) => isVisible(ports, orgId));
  return results(
    called,
    all.map(({ orgId, name, state }) => ({ id: orgId, name, state })),
  );
}

function records({ contents }: RoutePorts, called: Called, section: string, only: Record<string, unknown> = {}): Reply {
  const found = contents.visible(called.orgId ?? DEFAULT_ORGANISATION, section);
  const wanted = Object.entries(only);
  return results(
    called,
    found.filter((record) => wanted.every(([name, value]) => record[name] === value)),
  );
}

function projectGrants({ contents }: RoutePorts, called: Called): Reply {
  const found = contents.visible(called.orgId ?? DEFAULT_ORGANISATION, 'projectGrants');
  const granted = found.map((grant): JsonObject => {
    const { roleKeys, ...others } = elements(grant.projectGrant)[0] ?? {};
    return { grantId: grant.grantId, ...others, grantedRoleKeys: roleKeys, state: 'PROJECT_GRANT_STATE_ACTIVE' };
  });
  return results(called, granted);
}

function results({ body }: Called, all: readonly unknown[]): Reply {
  const { offset, limit } = page.parse(JSON.parse(body.toString())).query;
  const result = all.slice(offset, offset + limit);
  const details = { totalResult: String(all.length), viewTimestamp: new Date().toISOString() };
  return replies.found({ details, ...(result.length === 0 ? {} : { result }) });
}

function authenticationMethods({ contents }: RoutePorts, { parts: [userId = ''] }: Called): Reply {
  const person = contents.find(contents.users.get(userId) ?? '', 'humanUsers', userId) ?? {};
  const authMethodTypes = [
    ...(valueAt(person, 'user.otpCode') === undefined ? [] : ['AUTHENTICATION_METHOD_TYPE_TOTP']),
    ...(valueAt(person, 'user.hashedPassword') === undefined ? [] : ['AUTHENTICATION_METHOD_TYPE_PASSWORD']),
  ];
  const details = { timestamp: new Date().toISOString() };
  if (authMethodTypes.length === 0) return replies.found({ details });
  return replies.found({ details: { totalResult: `${authMethodTypes.length}`, ...details }, authMethodTypes });
}

function deleteUser({ contents, tokens }: RoutePorts, { parts }: Called): Reply {
  const [userId = ''] = parts;
  if (!contents.users.delete(userId)) return replies.noUser;
  tokens.delete(userId);
  return replies.found({ details: {} });
}
