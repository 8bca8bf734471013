import type { MessageInitShape } from '@bufbuild/protobuf';
import { TextQueryMethod } from '@zitadel/proto/zitadel/object/v2/object_pb.js';
import { type SearchQuerySchema, Type } from '@zitadel/proto/zitadel/user/v2/query_pb.js';
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { z } from 'zod';
import { defaultExportOptions } from '../../functions/export/contract.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type JsonObject, parseIfJson, textAt } from '../../shared/json/jsonObject.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import type { Store } from '../../shared/store/store.ts';
import { listUsers } from '../accounts/listing.ts';
import { undisposed } from '../exports/fileContent.ts';
import { inspectPlace } from '../exports/inspectPlace.ts';
import type { DatabasePlace } from '../exports/placeInterfaces.ts';
import { callBriefly, readText } from '../http/httpClient.ts';
import { type InstanceSettings, overNetwork, type Server } from '../places/calledServer.ts';
import { inProcess } from '../places/inProcess.ts';
import { databaseName } from '../places/instanceLocation.ts';
import { responseError } from '../places/instanceResponses.ts';
import { type OpenInstance, type Surroundings, usageError } from '../terminal/command.ts';
import { progressLines } from '../terminal/progress.ts';
import { rpcClient } from '../zitadel/rpc.ts';
import type { ZitadelConnection } from '../zitadel/zitadelConnection.ts';
import { type Match, type People, type Person, PersonSearch, spellings } from './people.ts';
import { openRemote } from './remotePlace.ts';

export async function openRemotePeople(settings: InstanceSettings, call: Surroundings): Promise<People> {
  const place = openRemote(settings);
  const { service, denied } = await place.facts(['export'], call.signal);
  const find: People['find'] =
    service === 'zitadel'
      ? (users, signal) => findInZitadel({ ...settings, signal }, users)
      : (users, signal) => findInExport(place, denied.includes('export'), users, call, signal);
  return { find, ...factorsOf(overNetwork(settings)) };
}

/** Opens the people of a database. This process reads and changes the database itself, as a server would. */
export function openDatabasePeople(call: Surroundings & OpenInstance): People {
  const { store, location } = call;
  const server = inProcess(databaseName(location), async () => ({ store, location, ...undisposed }));
  return { find: (users, signal) => findInStore(store, users, signal), ...factorsOf(server) };
}

/**
 * Returns the functions for factors. Their HTTP calls do not depend on whether the server is ZITADEL or this service.
 */
function factorsOf(server: Server): Omit<People, 'find'> {
  const hasOtpEmail: People['hasOtpEmail'] = async (userId, signal) => {
    const { authMethodTypes } = await callUser(server, 'GET', `${userPath(userId)}/authentication_methods`, signal);
    return authMethodTypes.includes('AUTHENTICATION_METHOD_TYPE_OTP_EMAIL');
  };
  return {
    hasOtpEmail,
    async removeOtpEmail(userId, signal) {
      let attempts = 0;
      const send: Server['send'] = (call, ends) => {
        attempts++;
        return server.send(call, ends);
      };
      try {
        await callUser({ ...server, send }, 'DELETE', `${userPath(userId)}/otp_email`, signal);
      } catch (error) {
        // An earlier attempt may have removed the factor although its response was lost. The last attempt then fails,
        // because the factor does not exist any more.
        const isDone = attempts > 1 && placeRefused.is(error) && !(await hasOtpEmail(userId, signal));
        if (!isDone) throw error;
      }
    },
  };
}

const MAX_USER_RESPONSE_BYTES = 1_000_000;
const factorsResponse = z.looseObject({ authMethodTypes: z.array(z.string()).default([]) });

function userPath(userId: string): string {
  return `/v2/users/${encodeURIComponent(userId)}`;
}

function callUser(server: Server, method: 'GET' | 'DELETE', path: string, signal: AbortSignal) {
  return callBriefly(server, { method, path }, signal, async (response) => {
    if (response.status !== 200) throw await responseError(server, response);
    return factorsResponse.parse(parseIfJson(await readText(response, MAX_USER_RESPONSE_BYTES)));
  });
}

/** Searches the database directly. An export of the users would add an event to the audit trail. */
async function findInStore(
  store: Store,
  users: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Match[]>> {
  const search = new PersonSearch(users);
  for await (const { kind, email = '', ...user } of listUsers(store, undefined)) {
    signal.throwIfAborted();
    if (kind === 'person') search.add({ ...user, email });
  }
  return search.found;
}

/**
 * Searches the people in an export of an instance, because instances have no search. If the token does not permit
 * exports, treats each searched text as an id.
 */
async function findInExport(
  place: DatabasePlace,
  isDenied: boolean,
  users: readonly string[],
  { stderr }: Surroundings,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Match[]>> {
  if (isDenied) return new Map(users.map((user) => [user, [withId(place, user)]]));
  const search = new PersonSearch(users);
  const visitor: RecordVisitor = {
    add: ({ section, json, orgId }) => {
      if (section === humanUserSection) search.add(toPerson(json, orgId));
    },
    reset: () => search.reset(),
  };
  const context = { output: progressLines(stderr), signal };
  await inspectPlace(place, defaultExportOptions, context, { visitor, label: 'finding people' });
  return search.found;
}

function toPerson(json: JsonObject, orgId: string): Person {
  const at = (path: string) => textAt(json, path, orgId);
  return { userId: at('userId'), orgId, userName: at('user.userName'), email: at('user.email.email') };
}

function withId({ name }: DatabasePlace, user: string): Match {
  if (!user.includes('@')) return { userId: user, orgId: '', userName: '', email: '', matchedBy: ['id'] };
  throw usageError(
    `the token for ${name} does not permit exports, which the search for names and e-mail addresses needs: specify user ids`,
  );
}

/** Searches the users of ZITADEL by the call `ListUsers`, which every release with `/v2/users` has. */
async function findInZitadel(
  connection: ZitadelConnection,
  users: readonly string[],
): Promise<ReadonlyMap<string, readonly Match[]>> {
  const search = new PersonSearch(users);
  const service = rpcClient(connection, UserService);
  for (const user of users) {
    const { result } = await service.listUsers({ queries: [onlyPeople, orQuery(user)] });
    for (const { userId, details, username, type, loginNames } of result) {
      const email = type.case === 'human' ? (type.value.email?.email ?? '') : '';
      search.add({ userId, orgId: details?.resourceOwner ?? '', userName: username, email, loginNames });
    }
  }
  return search.found;
}

type SearchQuery = MessageInitShape<typeof SearchQuerySchema>;

const onlyPeople: SearchQuery = { query: { case: 'typeQuery', value: { type: Type.HUMAN } } };
const method = TextQueryMethod.EQUALS_IGNORE_CASE;

function orQuery(user: string): SearchQuery {
  const named = spellings(user).flatMap((name): SearchQuery[] => [
    { query: { case: 'userNameQuery', value: { userName: name, method } } },
    { query: { case: 'emailQuery', value: { emailAddress: name, method } } },
    { query: { case: 'loginNameQuery', value: { loginName: name, method } } },
  ]);
  const withId: SearchQuery = { query: { case: 'inUserIdsQuery', value: { userIds: [user] } } };
  return { query: { case: 'orQuery', value: { queries: [withId, ...named] } } };
}
