import { posix } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { create, type DescMethod, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import {
  AdminService,
  ExportDataRequestSchema,
  ExportDataResponseSchema,
  ImportDataRequestSchema,
} from '@zitadel/proto/zitadel/admin_pb.js';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { z } from 'zod';
import { type JsonObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import {
  DEFAULT_ORGANISATION,
  hasStates,
  type ReceivedRequest,
  type Release,
  type ZitadelBehaviour,
} from './behaviour.ts';
import { type ClosingCall, closeRecord, closingCalls } from './closing.ts';
import { type Contents, elements } from './contents.ts';
import { exportFrom, UnexportableError } from './exporting.ts';
import { DeadlineError, importAll } from './importing.ts';
import { removalCalls, removeRecord } from './removing.ts';
import { grpcWeb, inRelease, type Reply, replies } from './replies.ts';

/** The dependencies of the routes of a stand-in. */
interface RoutePorts {
  readonly contents: Contents;
  readonly tokens: Map<string, string>;
  readonly requests: ReceivedRequest[];
  readonly behaviour: ZitadelBehaviour;
  readonly id: string;
  readonly host: string;
}

/** A request in the form for the routes. */
export interface Routed {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly body: Buffer;
  /** The header `x-zitadel-orgid`, one character per byte. */
  readonly orgId: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string;
}

/** The end of the process in the middle of a request. */
class DeathError extends Error {}

interface Called extends Routed {
  readonly callerId: string;
  /** The request, with the fields from the path of the REST call. */
  readonly message: JsonObject;
  /** The organisation in whose context ZITADEL handles the request. */
  readonly contextId: string;
  readonly isRpc: boolean;
}

type Handler = (ports: RoutePorts, called: Called) => Reply | Promise<Reply>;

const lenient = { ignoreUnknownFields: true };
/** Returns the JSON form of a value. */
const jsonValue = (value: unknown): JsonValue => z.json().parse(JSON.parse(JSON.stringify(value)));
const page = z.looseObject({
  query: z.looseObject({ offset: z.coerce.number().default(0), limit: z.number().default(100) }).prefault({}),
});

const { importData, exportData, listEvents, listOrgs, getMyInstance, getDefaultOrg, getDomainPolicy, listIAMMembers } =
  AdminService.method;
const { getMyUser, listMyMemberships } = AuthService.method;
const { getMyOrg, listUsers, listAllProjectGrants, listUserGrants, listOrgMembers } = ManagementService.method;
const { listProjectMembers, listProjectGrantMembers, listProjects, listApps, listActions } = ManagementService.method;

interface Route {
  readonly handler: Handler;
  /** The method and the path, if the command calls the route over REST. */
  readonly rest?: readonly [method: string, path: RegExp];
  readonly rpc?: DescMethod;
}

const routes: readonly Route[] = [
  {
    rest: ['GET', /^\/\.well-known\/openid-configuration$/],
    handler: () => replies.found({ issuer: 'http://localhost', token_endpoint: 'http://localhost/oauth/v2/token' }),
  },
  { rest: ['GET', /^\/v2\/users\/(?<userId>[^/]+)\/authentication_methods$/], handler: authenticationMethods },
  { rest: ['DELETE', /^\/v2\/users\/(?<userId>[^/]+)\/otp_email$/], handler: removeOtpEmail },
  { rest: ['DELETE', /^\/v2\/users\/(?<userId>[^/]+)$/], handler: deleteUser },
  { rest: ['POST', /^\/admin\/v1\/import$/], rpc: importData, handler: importRoute },
  { rest: ['POST', /^\/admin\/v1\/export$/], rpc: exportData, handler: exportRoute },
  { rpc: getMyUser, handler: whoAmI },
  { rpc: listMyMemberships, handler: memberships },
  {
    rpc: getMyInstance,
    handler: ({ id, host, behaviour: { version } }) =>
      replies.found({ instance: { id, name: 'ZITADEL', version, domains: [{ domain: host, primary: true }] } }),
  },
  { rpc: getDefaultOrg, handler: () => replies.found({ org: { id: DEFAULT_ORGANISATION, name: 'ZITADEL' } }) },
  {
    rpc: getDomainPolicy,
    handler: ({ behaviour: { loginNamesByDomain } }) =>
      replies.found({ policy: { ...(loginNamesByDomain ? { userLoginMustBeDomain: true } : {}), isDefault: true } }),
  },
  { rpc: listOrgs, handler: organisations },
  { rpc: listEvents, handler: searchEvents },
  { rpc: getMyOrg, handler: ownOrganisation },
  { rpc: listAllProjectGrants, handler: projectGrants },
  { rpc: listUsers, handler: searchUsers },
  { rpc: listUserGrants, handler: records('userGrants') },
  { rpc: listOrgMembers, handler: records('orgMembers') },
  { rpc: listProjects, handler: objects({ projects: 'projectId' }, 'PROJECT_STATE_ACTIVE') },
  { rpc: listApps, handler: objects({ oidcApps: 'appId', apiApps: 'appId' }, 'APP_STATE_ACTIVE') },
  { rpc: listActions, handler: objects({ actions: 'actionId' }, 'ACTION_STATE_ACTIVE') },
  { rpc: listProjectMembers, handler: records('projectMembers', 'projectId') },
  { rpc: listProjectGrantMembers, handler: records('projectGrantMembers', 'grantId') },
  { rpc: UserService.method.listUsers, handler: findUsers },
  { rpc: listIAMMembers, handler: instanceMembers },
  ...closingCalls.map((call) => ({ rpc: ManagementService.method[call], handler: closing(call) })),
  ...ManagementService.methods
    .filter(({ localName }) => removalCalls.includes(localName))
    .map((rpc) => ({ rpc, handler: removal(rpc.localName) })),
];

/** A request with its route. */
interface Resolved {
  readonly route: Route;
  readonly message: JsonObject;
  /** The organisation in the header. */
  readonly orgId: string | undefined;
}

/** Responds to a request, and records it. */
export async function handle(ports: RoutePorts, routed: Routed): Promise<Reply> {
  if (ports.behaviour.isSilent) await new Promise(() => {});
  const refusal = ports.behaviour.refusals.shift() ?? 200;
  if (refusal !== 200) return replies.text(refusal, 'slow down');
  const { externalDomain = URL.parse(`http://${routed.host}`)?.hostname } = ports.behaviour;
  if (URL.parse(`http://${routed.host}`)?.hostname !== externalDomain)
    return replies.unknownHost(routed.host, externalDomain ?? '');
  const isRpc = routed.contentType.startsWith('application/grpc-web');
  const arrived = ports.behaviour.losesContext(routed.path) ? { ...routed, orgId: undefined } : routed;
  const { release } = ports.behaviour;
  const resolved = isRpc ? resolveRpc(arrived) : resolveRest(arrived, release);
  const answered = 'status' in resolved ? resolved : await answer(ports, routed, resolved, isRpc);
  const reply = inRelease(release, answered);
  const { orgId, route: { rpc = undefined } = {}, message } = 'status' in resolved ? {} : resolved;
  const isReadable = message !== undefined && unreadableField(message, ports.behaviour) === undefined;
  // The request without a token that recognises the release is no import.
  const measured = rpc === importData && isReadable && reply.status !== 401 ? measure(message) : {};
  const timeout = typeof message?.timeout === 'string' ? { timeout: message.timeout } : {};
  ports.requests.push({ path: routed.path, orgId, status: reply.status, ...measured, ...timeout });
  return isRpc && rpc !== undefined ? grpcWeb(rpc.output, reply, release) : reply;
}

/** gRPC-Web forwards the header's bytes unchanged. */
function resolveRpc({ path, body, orgId = '' }: Routed): Resolved | Reply {
  const route = routes.find(({ rpc }) => path === `/${rpc?.parent.typeName}/${rpc?.name}`);
  if (route?.rpc === undefined) return replies.notFound;
  const [message = {}] = elements(toJson(route.rpc.input, fromBinary(route.rpc.input, body.subarray(5))));
  return { route, message, orgId: Buffer.from(orgId, 'latin1').toString() || undefined };
}

const MAX_ID = 200;
const TOO_LONG = 'value length must be between 1 and 200 runes, inclusive';
const PRINTABLE = /^[ -~]*$/;

/**
 * REST accepts printable ASCII only: it drops other headers and rejects other paths. An encoded slash splits a path.
 */
function resolveRest({ method, path: encoded, body, orgId = '' }: Routed, release: Release): Resolved | Reply {
  const path = decodeURIComponent(encoded);
  if (path !== posix.normalize(path)) return replies.movedTo(posix.normalize(path));
  const route = routes.find(({ rest }) => rest?.[0] === method && rest[1].test(path));
  if (route === undefined) return replies.notFound;
  if (!PRINTABLE.test(path)) return replies.unprintablePath;
  const { groups } = route.rest?.[1].exec(path) ?? {};
  const [given = {}] = elements(body.length === 0 ? {} : JSON.parse(body.toString()));
  const message = withKnownFields(given, release);
  return { route, message: { ...message, ...groups }, orgId: (PRINTABLE.test(orgId) && orgId) || undefined };
}

async function answer(ports: RoutePorts, routed: Routed, resolved: Resolved, isRpc: boolean): Promise<Reply> {
  const { path, authorization } = routed;
  const { route, message, orgId } = resolved;
  // ZITADEL checks the size of a message before the token.
  const unreadable = route.rpc === importData ? unreadableField(message, ports.behaviour) : undefined;
  if (unreadable !== undefined) return replies.invalid(`proto: (line 1:1): invalid value for ${unreadable}: true`);
  const { bytes = 0 } = route.rpc === importData ? measure(message) : {};
  const { maxMessageBytes } = ports.behaviour;
  if (bytes > maxMessageBytes) return replies.tooLarge(bytes, maxMessageBytes);
  if (path.startsWith('/.well-known/'))
    return route.handler(ports, { ...routed, callerId: '', message, contextId: '', isRpc });
  if (authorization === undefined) return replies.noHeader;
  const [callerId] = [...ports.tokens].find(([, token]) => authorization === `Bearer ${token}`) ?? [];
  if (callerId === undefined) return replies.badToken;
  if (callerId !== 'owner' && !/^\/(?:auth\/|zitadel\.auth\.)/.test(path)) return replies.noMembership;
  if (orgId !== undefined && !isVisible(ports, orgId)) return replies.noOrganisation;
  const ids = [message.projectId, message.grantId, message.userId];
  if (ids.some((id) => typeof id === 'string' && [...id].length > MAX_ID)) return replies.invalid(TOO_LONG);
  const contextId = orgId ?? ports.contents.users.get(callerId) ?? DEFAULT_ORGANISATION;
  try {
    return await route.handler(ports, { ...routed, callerId, message, contextId, isRpc });
  } catch (error) {
    if (error instanceof UnexportableError)
      return error.record === 'user' ? replies.userOfTwoKinds : replies.unexportable;
    throw error;
  }
}

/** Returns the field of an import that is `true` instead of a state, if the release has states. */
function unreadableField(message: JsonObject, { release }: ZitadelBehaviour): string | undefined {
  const states = elements(valueAt(message, 'dataOrgs.orgs')).map(({ orgState }) => orgState);
  return hasStates(release) && states.includes(true) ? 'enum field orgState' : undefined;
}

/** Returns a message without the states of organisations if the release skips them as unknown fields. */
function withKnownFields(message: JsonObject, release: Release): JsonObject {
  const orgs = valueAt(message, 'dataOrgs.orgs');
  if (hasStates(release) || orgs === undefined) return message;
  return { ...message, dataOrgs: { orgs: elements(orgs).map(({ orgState: _, ...org }) => org) } };
}

function isVisible({ contents }: RoutePorts, orgId: string): boolean {
  const organisation = contents.organisations.get(orgId);
  return organisation !== undefined && contents.isVisible(organisation);
}

function measure(given: JsonObject): { bytes: number; records: number } {
  const message = fromJson(ImportDataRequestSchema, jsonValue(given), lenient);
  const encoded = toJson(ImportDataRequestSchema, message);
  const lists = elements(valueAt(elements(encoded)[0] ?? {}, 'dataOrgs.orgs')).flatMap(Object.values);
  const records = lists.reduce((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return { bytes: toBinary(ImportDataRequestSchema, message).byteLength, records };
}

async function importRoute(ports: RoutePorts, { message, contextId, callerId }: Called): Promise<Reply> {
  const request =
    elements(toJson(ImportDataRequestSchema, fromJson(ImportDataRequestSchema, jsonValue(message), lenient)))[0] ?? {};
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
  const people = orgs.flatMap((org) => elements(org.humanUsers));
  if (people.some(({ userId }) => ports.behaviour.rejectsPerson(String(userId))))
    return replies.invalid('invalid ImportDataRequest.DataOrgs: embedded message failed validation');
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
    const { release, loginNamesByDomain, drops, races } = ports.behaviour;
    const run = { contents, contextOrgId: contextId, host, callerId, release, loginNamesByDomain, drops, races, write };
    const { errors, reached } = importAll(run, orgs);
    if (ports.behaviour.stallsAtWrite <= 0) await new Promise(() => {});
    const success = reached.length === 0 ? {} : { orgs: reached.map((id) => ({ orgId: id })) };
    return replies.found({ ...(errors.length === 0 ? {} : { errors }), success });
  } catch (error) {
    if (error instanceof DeadlineError) return replies.deadline;
    throw error;
  }
}

async function exportRoute({ contents, behaviour }: RoutePorts, { message, isRpc }: Called): Promise<Reply> {
  await setTimeout(behaviour.exportMs);
  const flags = fromJson(ExportDataRequestSchema, jsonValue(message), lenient);
  const orgs = exportFrom(contents, { ...flags, release: behaviour.release });
  const exported = fromJson(ExportDataResponseSchema, jsonValue({ orgs }), lenient);
  const { byteLength } = toBinary(ExportDataResponseSchema, exported);
  if (!isRpc && byteLength > behaviour.maxMessageBytes) return replies.tooLarge(byteLength, behaviour.maxMessageBytes);
  return replies.found(toJson(ExportDataResponseSchema, exported));
}

function whoAmI({ contents }: RoutePorts, { callerId }: Called): Reply {
  const details = { resourceOwner: contents.users.get(callerId) };
  return replies.found({ user: { id: callerId, details, userName: callerId, machine: { name: callerId } } });
}

function memberships({ behaviour }: RoutePorts, { callerId }: Called): Reply {
  const details = { viewTimestamp: new Date().toISOString() };
  if (callerId !== 'owner') return replies.found({ details });
  return replies.found({
    details,
    result: [{ userId: callerId, roles: behaviour.roles, displayName: 'ZITADEL', iam: true }],
  });
}

function ownOrganisation({ contents }: RoutePorts, { contextId }: Called): Reply {
  return replies.found({ org: { id: contextId, name: contents.organisations.get(contextId)?.name } });
}

function organisations(ports: RoutePorts, called: Called): Reply {
  const all = [...ports.contents.organisations.values()].filter(({ orgId }) => isVisible(ports, orgId));
  return results(
    called,
    all.map(({ orgId, name, state }) => ({ id: orgId, name, state })),
  );
}

const eventSelection = z.object({
  aggregateTypes: z.array(z.string()).max(10).default([]),
  eventTypes: z.array(z.string()).max(30).default([]),
  aggregateId: z.string().default(''),
  resourceOwner: z.string().default(''),
  editorUserId: z.string().default(''),
  asc: z.boolean().default(false),
  limit: z.number().default(0),
  from: z.string().optional(),
});

function searchEvents({ contents, behaviour }: RoutePorts, { message }: Called): Reply {
  if (behaviour.hidesEvents) return replies.noPermission;
  const parsed = eventSelection.safeParse(message);
  if (!parsed.success) return replies.invalid('invalid ListEventsRequest: value must contain no more than 30 item(s)');
  const { from, ...selection } = parsed.data;
  if (selection.aggregateTypes.length === 0 && selection.eventTypes.some(isUnknownType)) return replies.eventsNotFound;
  const found = contents.log.search({ ...selection, from: from === undefined ? undefined : microseconds(from) });
  const events = found.map(({ aggregateId, aggregateType, owner, type, editorId, sequence, payload, at }) => ({
    aggregate: { id: aggregateId, type: { type: aggregateType }, resourceOwner: owner },
    editor: { userId: editorId, service: 'zitadel' },
    type: { type },
    sequence: String(sequence),
    creationDate: dateOf(at),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
  }));
  return replies.found(events.length === 0 ? {} : { events });
}

/** Whether no release has a type of events. A search for such a type fails without the type of its aggregate. */
function isUnknownType(type: string): boolean {
  return type.endsWith('.cascade.changed') && !/^(?:project|user)\.grant\./.test(type);
}

/** Returns a date with six fractional digits as microseconds since 1970. */
function microseconds(date: string): number {
  const { seconds, nanos } = fromJson(TimestampSchema, date);
  return Number(seconds) * 1_000_000 + nanos / 1_000;
}

function dateOf(at: number): JsonValue {
  const seconds = Math.floor(at / 1_000_000);
  return toJson(
    TimestampSchema,
    create(TimestampSchema, { seconds: BigInt(seconds), nanos: (at % 1_000_000) * 1_000 }),
  );
}

/** Finds users of the context's organisation by id, with their states. */
function searchUsers({ contents, behaviour }: RoutePorts, called: Called): Reply {
  if (behaviour.hidesUsers) return replies.noPermission;
  const [query] = elements(called.message.queries);
  const found = ['humanUsers', 'machineUsers'].flatMap((section) => contents.visible(called.contextId, section));
  if (query === undefined) return owned(called, found);
  const userIds: unknown = valueAt(query, 'inUserIdsQuery.userIds');
  if (!Array.isArray(userIds)) return replies.invalidQuery;
  const caller = { userId: called.callerId, state: 'USER_STATE_ACTIVE' };
  const own = contents.users.get(called.callerId) === called.contextId ? [...found, caller] : found;
  const users = own.filter(({ userId }) => userIds.includes(userId) && behaviour.findsUser(String(userId)));
  return owned(
    called,
    users.map(({ userId, state }) => ({
      id: userId,
      state: contents.passedOver.has(String(userId)) ? 'USER_STATE_ACTIVE' : state,
    })),
  );
}

/**
 * Lists the records of a section of the context's organisation. If the REST path contains a project or grant, lists
 * only its records.
 */
function records(section: string, key?: string): Handler {
  return ({ contents }, called) => {
    const found = contents.visible(called.contextId, section);
    return owned(called, key === undefined ? found : found.filter((record) => record[key] === called.message[key]));
  };
}

/**
 * Lists the ids and states of records of some sections, with their keys. If the REST path contains a project, lists
 * only its records.
 */
function objects(sections: Readonly<Record<string, string>>, active: string): Handler {
  return ({ contents }, called) => {
    const found = Object.entries(sections).flatMap(([section, key]) =>
      contents
        .visible(called.contextId, section)
        .filter((record) => [undefined, valueAt(record, 'app.projectId')].includes(called.message.projectId))
        .map((record) => ({ id: record[key], state: record.state ?? active })),
    );
    return owned(called, found);
  };
}

/** Closes a record of the context's organisation. */
function closing(call: ClosingCall): Handler {
  return ({ contents, behaviour }, { message, contextId, callerId, path }) => {
    const effect = behaviour.closing(path);
    if (effect === 'refused') return replies.noPermission;
    if (effect === 'ignored') return replies.found({});
    const error = closeRecord(contents, call, message, { orgId: contextId, editorId: callerId });
    if (error === undefined && effect === 'passedOver') contents.passedOver.add(textAt(message, 'id', ''));
    else if (error === undefined) contents.passedOver.delete(textAt(message, 'id', ''));
    return error === undefined ? replies.found({ details: { sequence: '8' } }) : replies.notClosed(...error);
  };
}

/** Deletes a record of the context's organisation. */
function removal(call: string): Handler {
  return ({ contents, behaviour }, { message, contextId, callerId, path }) => {
    const effect = behaviour.closing(path);
    if (effect === 'refused') return replies.noPermission;
    const error = removeRecord(contents, call, message, { orgId: contextId, editorId: callerId });
    return error === undefined ? replies.found({ details: { sequence: '8' } }) : replies.notClosed(...error);
  };
}

function instanceMembers({ behaviour }: RoutePorts, called: Called): Reply {
  const owner = { userId: 'owner', roles: behaviour.roles };
  return results(called, [owner, ...behaviour.instanceMembers]);
}

function projectGrants({ contents }: RoutePorts, called: Called): Reply {
  const found = contents.visible(called.contextId, 'projectGrants');
  const granted = found.map((grant): JsonObject => {
    const { roleKeys, ...others } = elements(grant.projectGrant)[0] ?? {};
    const state = grant.state ?? 'PROJECT_GRANT_STATE_ACTIVE';
    return { grantId: grant.grantId, ...others, grantedRoleKeys: roleKeys, state };
  });
  return owned(called, granted);
}

function owned(called: Called, found: readonly JsonObject[]): Reply {
  return results(
    called,
    found.map((record) => ({ ...record, details: { resourceOwner: called.contextId } })),
  );
}

function results({ message }: Called, all: readonly unknown[]): Reply {
  const { offset, limit } = page.parse(message).query;
  const result = all.slice(offset, offset + limit);
  const details = { totalResult: String(all.length), viewTimestamp: new Date().toISOString() };
  return replies.found({ details, ...(result.length === 0 ? {} : { result }) });
}

function authenticationMethods({ contents }: RoutePorts, { message }: Called): Reply {
  const userId = textAt(message, 'userId', '');
  const person = contents.find(contents.users.get(userId) ?? '', 'humanUsers', userId) ?? {};
  const authMethodTypes = [
    ...(valueAt(person, 'user.otpCode') === undefined ? [] : ['AUTHENTICATION_METHOD_TYPE_TOTP']),
    ...(contents.otpEmail.has(userId) ? ['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL'] : []),
    ...(valueAt(person, 'user.hashedPassword') === undefined ? [] : ['AUTHENTICATION_METHOD_TYPE_PASSWORD']),
  ];
  const details = { timestamp: new Date().toISOString() };
  if (authMethodTypes.length === 0) return replies.found({ details });
  return replies.found({ details: { totalResult: `${authMethodTypes.length}`, ...details }, authMethodTypes });
}

/**
 * Finds people of all organisations by id, user name, e-mail address or login name, the queries that the command
 * combines.
 */
function findUsers({ contents, behaviour, host }: RoutePorts, called: Called): Reply {
  const queries = elements(called.message.queries);
  const ids: unknown = queries.map((query) => valueAt(query, 'inUserIdsQuery.userIds')).find(Array.isArray);
  if (Array.isArray(ids)) {
    const found = [...contents.users].filter(([userId]) => ids.includes(userId));
    return results(
      called,
      found.map(([userId, resourceOwner]) => ({
        userId,
        details: { resourceOwner },
        state:
          ['humanUsers', 'machineUsers']
            .map((section) => contents.find(resourceOwner, section, userId)?.state)
            .find((state) => state !== undefined) ?? 'USER_STATE_ACTIVE',
      })),
    );
  }
  const anyOf = queries.flatMap((query) => elements(valueAt(query, 'orQuery.queries')));
  const isFound = (person: JsonObject) => anyOf.some((query) => matches(person, query));
  const people = [...contents.organisations.keys()].flatMap((orgId) =>
    contents.visible(orgId, 'humanUsers').map((person) => {
      const userName = textAt(person, 'user.userName', '');
      const domain = `${contents.organisations.get(orgId)?.name}.${host}`.toLowerCase();
      return { ...person, orgId, loginName: behaviour.loginNamesByDomain ? `${userName}@${domain}` : userName };
    }),
  );
  return results(
    called,
    people.filter(isFound).map(({ orgId, loginName, ...person }) => ({
      userId: textAt(person, 'userId', ''),
      details: { resourceOwner: orgId },
      username: textAt(person, 'user.userName', ''),
      loginNames: [loginName],
      human: { email: { email: textAt(person, 'user.email.email', '') } },
    })),
  );
}

function matches(person: JsonObject, query: JsonObject): boolean {
  const equals = (path: string, searched: string) =>
    textAt(person, path, '').toLowerCase() === textAt(query, searched, '').toLowerCase();
  const ids: unknown = valueAt(query, 'inUserIdsQuery.userIds');
  if (Array.isArray(ids)) return ids.includes(person.userId);
  if (query.userNameQuery !== undefined) return equals('user.userName', 'userNameQuery.userName');
  if (query.loginNameQuery !== undefined) return equals('loginName', 'loginNameQuery.loginName');
  return equals('user.email.email', 'emailQuery.emailAddress');
}

function removeOtpEmail({ contents, behaviour }: RoutePorts, { message }: Called): Reply {
  const userId = textAt(message, 'userId', '');
  if (!contents.users.has(userId)) return behaviour.release === '2.71' ? replies.otpEmailNotSet : replies.userUnknown;
  if (!contents.otpEmail.has(userId)) return replies.otpEmailNotSet;
  contents.setOtpEmail(userId, false);
  return replies.found({ details: { sequence: '7', resourceOwner: contents.users.get(userId) } });
}

function deleteUser({ contents }: RoutePorts, { message }: Called): Reply {
  const userId = textAt(message, 'userId', '');
  const owner = contents.users.get(userId);
  if (owner === undefined) return replies.userUnknown;
  contents.users.delete(userId);
  contents.append(owner, [{ aggregateType: 'user', aggregateId: userId, type: 'user.removed' }]);
  return replies.found({ details: { sequence: '9' } });
}
