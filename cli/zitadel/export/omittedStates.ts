import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { UserState, UserStateSchema } from '@zitadel/proto/zitadel/user_pb.js';
import { recordNoun } from '../../../shared/errors/nouns.ts';
import { tokenForbidden, zitadelCallFailed, zitadelStatesUnknown } from '../../../shared/errors/placeErrors.ts';
import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import type { SectionName } from '../../../shared/organisation/sections/section.ts';
import { counted, MAX_EXAMPLES } from '../../terminal/numberTexts.ts';
import { rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { recordsIn } from './exportOrganisation.ts';

// In releases 2 and 3 of ZITADEL, exports contain no states. So the command reads the states with searches, which
// return states in every release.

/** The maximum number of users in a search. In newer releases of ZITADEL, a search returns at most 1,000 users. */
const SEARCHED_AT_ONCE = 500;

interface StateSource {
  readonly connection: ZitadelConnection;
  /** Returns the state of an organisation. Returns undefined if ZITADEL does not return the state. */
  readonly stateOf: (orgId: string) => Promise<string | undefined>;
  /** Whether records with an unknown state count as active. Otherwise, an unknown state is an error. */
  readonly acceptsUnknown: boolean;
}

/**
 * @returns the warning about states that remain unknown; undefined if all states are known
 * @throws IdentityError ZITADEL_STATES_UNKNOWN if unknown states are not accepted
 */
export async function addStates(organisation: JsonObject, source: StateSource): Promise<RecordWarning | undefined> {
  const orgId = textAt(organisation, 'orgId', '');
  organisation.orgState ??= await source.stateOf(orgId);
  const refusal = await addUserStates(source.connection, orgId, statelessUsers(organisation));
  const states = unknownText(organisation);
  if (states === undefined) return undefined;
  const problem = refusal ?? 'a search in ZITADEL does not return the states';
  if (!source.acceptsUnknown)
    throw zitadelStatesUnknown({ url: source.connection.origin, orgId, states, reason: problem });
  return warn('states_not_returned', { organisation: orgId, states, problem });
}

const userSections = recordSections.filter(({ collection }) => collection === 'users').map(({ name }) => name);

function statelessUsers(organisation: JsonObject): JsonObject[] {
  return userSections.flatMap((section) => stateless(organisation, section));
}

function stateless(organisation: JsonObject, section: SectionName): JsonObject[] {
  return recordsIn(organisation[section]).filter(({ state }) => state === undefined);
}

function unknownText(organisation: JsonObject): string | undefined {
  const users = userSections.flatMap((section) => {
    const statelessUsers = stateless(organisation, section);
    const ids = statelessUsers.slice(0, MAX_EXAMPLES).map((user) => textAt(user, 'userId', ''));
    return statelessUsers.length === 0
      ? []
      : [`${counted(statelessUsers.length, recordNoun(section))} such as ${ids.join(', ')}`];
  });
  const texts = [...(organisation.orgState === undefined ? ['the organisation itself'] : []), ...users];
  return texts.length === 0 ? undefined : texts.join(', and ');
}

/** Adds the states of users. If ZITADEL does not return the states, returns the reason. */
async function addUserStates(
  connection: ZitadelConnection,
  orgId: string,
  users: readonly JsonObject[],
): Promise<string | undefined> {
  try {
    const states = await searchUserStates(
      connection,
      orgId,
      users.map((user) => textAt(user, 'userId', '')),
    );
    for (const user of users) user.state = states.get(textAt(user, 'userId', ''));
    return undefined;
  } catch (error) {
    if (tokenForbidden.is(error) || zitadelCallFailed.is(error)) return error.message;
    throw error;
  }
}

/**
 * Returns the states of users, by the ids of the users. The result lacks users whom ZITADEL does not return.
 * @throws IdentityError if ZITADEL rejects the search
 */
export async function searchUserStates(
  connection: ZitadelConnection,
  orgId: string,
  userIds: readonly string[],
): Promise<Map<string, string | undefined>> {
  const management = rpcClient(connection, ManagementService, { orgId });
  const states = new Map<string, string | undefined>();
  for (let start = 0; start < userIds.length; start += SEARCHED_AT_ONCE) {
    const searched = userIds.slice(start, start + SEARCHED_AT_ONCE);
    const queries = [{ query: { case: 'inUserIdsQuery', value: { userIds: searched } } } as const];
    const { result } = await management.listUsers({ query: { limit: searched.length }, queries });
    for (const { id, state, details } of result) if (details?.resourceOwner === orgId) states.set(id, stateName(state));
  }
  return states;
}

/** Returns the name that a state has in export files. */
function stateName(state: UserState): string | undefined {
  return state === UserState.UNSPECIFIED ? undefined : UserStateSchema.value[state]?.name;
}

/**
 * Requires that ZITADEL returns the states of users. To check this, searches for a user who certainly exists.
 * @throws IdentityError ZITADEL_STATES_UNKNOWN if ZITADEL does not return the state, and unknown states are not
 * accepted
 */
export async function requireStates(
  source: Pick<StateSource, 'connection' | 'acceptsUnknown'>,
  { userId, orgId }: { readonly userId: string; readonly orgId: string },
): Promise<void> {
  await addStates({ orgId, machineUsers: [{ userId }] }, { ...source, stateOf: async () => 'ORG_STATE_ACTIVE' });
}
