import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { type Contents, elements } from './contents.ts';
import type { EventDraft } from './eventLog.ts';

/** An error of a call that closes a record: gRPC's code, and the id. */
export type ClosingError = readonly [code: 5 | 9, id: string];

/** The names of the calls that close records, or open them again. */
export const closingCalls = [
  ...['deactivateUser', 'lockUser', 'reactivateUser', 'unlockUser', 'deactivateProject', 'deactivateApp'],
  ...['deactivateAction', 'deactivateProjectGrant', 'deactivateUserGrant', 'deactivateOrg'],
] as const;
export type ClosingCall = (typeof closingCalls)[number];

/** The fields of a request that identify a record. */
interface Named {
  readonly id: string;
  readonly userId: string;
  readonly projectId: string;
  readonly appId: string;
  readonly grantId: string;
}

/** How ZITADEL closes a kind of records, or opens them again. */
interface ClosingRow {
  readonly sections: readonly string[];
  readonly key: (named: Named) => string;
  /** The state after the call. */
  readonly state: string;
  readonly event: (named: Named) => EventDraft;
  readonly missing: string;
  /** The states in which ZITADEL does not close a record, with the errors. */
  readonly refuses: Readonly<Record<string, ClosingError>>;
}

/** A call about users, except the states in which ZITADEL refuses it. */
const ofUser = (state: string, event: string, missing: string) => ({
  sections: ['humanUsers', 'machineUsers'],
  key: ({ id }: Named) => id,
  state: `USER_STATE_${state}`,
  event: ({ id }: Named): EventDraft => ({ aggregateType: 'user', aggregateId: id, type: `user.${event}` }),
  missing,
});
/** A call that ZITADEL refuses only for a record that is inactive already. */
const closedOnce = (sections: readonly string[], prefix: string, missing: string, refused: string) => ({
  sections,
  state: `${prefix}_STATE_INACTIVE`,
  missing,
  refuses: { [`${prefix}_STATE_INACTIVE`]: [9, refused] as const },
});
const ofProject = (type: string, { projectId }: Named, payload: JsonObject): EventDraft => ({
  aggregateType: 'project',
  aggregateId: projectId,
  type,
  payload,
});

function refusedIn(id: string, states: readonly string[]): Readonly<Record<string, ClosingError>> {
  return Object.fromEntries(states.map((state) => [`USER_STATE_${state}`, [9, id] as const]));
}

/** The calls of 2.71 and 4.x, according to their sources. */
const rows: Readonly<Record<Exclude<ClosingCall, 'deactivateUserGrant' | 'deactivateOrg'>, ClosingRow>> = {
  deactivateUser: {
    ...ofUser('INACTIVE', 'deactivated', 'COMMAND-3M9ds'),
    refuses: { USER_STATE_INITIAL: [5, 'COMMAND-ke0fw'], USER_STATE_INACTIVE: [9, 'COMMAND-5M0sf'] },
  },
  lockUser: {
    ...ofUser('LOCKED', 'locked', 'COMMAND-5M9fs'),
    refuses: refusedIn('COMMAND-3NN8v', ['LOCKED', 'INACTIVE']),
  },
  reactivateUser: {
    ...ofUser('ACTIVE', 'reactivated', 'COMMAND-4M0sf'),
    refuses: refusedIn('COMMAND-6M0sf', ['ACTIVE', 'INITIAL', 'LOCKED']),
  },
  unlockUser: {
    ...ofUser('ACTIVE', 'unlocked', 'COMMAND-M0dos'),
    refuses: refusedIn('COMMAND-4M0ds', ['ACTIVE', 'INITIAL', 'INACTIVE']),
  },
  deactivateProject: {
    ...closedOnce(['projects'], 'PROJECT', 'COMMAND-112M9', 'COMMAND-mki55'),
    key: ({ id }) => id,
    event: ({ id }) => ({ aggregateType: 'project', aggregateId: id, type: 'project.deactivated' }),
  },
  deactivateApp: {
    ...closedOnce(['apiApps', 'oidcApps'], 'APP', 'COMMAND-ov9d3', 'COMMAND-dsh35'),
    key: ({ appId }) => appId,
    event: (named) => ofProject('project.application.deactivated', named, { appId: named.appId }),
  },
  deactivateAction: {
    ...closedOnce(['actions'], 'ACTION', 'COMMAND-NRmhu', 'COMMAND-Dgj92'),
    key: ({ id }) => id,
    event: ({ id }) => ({ aggregateType: 'action', aggregateId: id, type: 'action.deactivated' }),
  },
  deactivateProjectGrant: {
    ...closedOnce(['projectGrants'], 'PROJECT_GRANT', 'PROJECT-D8JxR', 'PROJECT-47fu8'),
    key: ({ grantId }) => grantId,
    event: (named) => ofProject('project.grant.deactivated', named, { grantId: named.grantId }),
  },
};

/** Closes a record of an organisation. Returns the error if ZITADEL does not close it. */
export function closeRecord(
  contents: Contents,
  call: ClosingCall,
  message: JsonObject,
  by: { readonly orgId: string; readonly editorId: string },
): ClosingError | undefined {
  const { orgId, editorId } = by;
  if (call === 'deactivateOrg') return closeOrganisation(contents, orgId, editorId);
  if (call === 'deactivateUserGrant') return closeUserGrant(contents, orgId, textAt(message, 'grantId', ''), editorId);
  const row = rows[call];
  const [id = '', userId = '', projectId = '', appId = '', grantId = ''] = [
    ...['id', 'userId', 'projectId', 'appId', 'grantId'].map((name) => textAt(message, name, '')),
  ];
  const named = { id, userId, projectId, appId, grantId };
  const section = row.sections.find((name) => contents.find(orgId, name, row.key(named)) !== undefined);
  const record = section === undefined ? undefined : contents.find(orgId, section, row.key(named));
  if (section === undefined || record === undefined) return [5, row.missing];
  const refusal = row.refuses[textAt(record, 'state', '')];
  if (refusal !== undefined) return refusal;
  contents.put(orgId, section, row.key(named), { ...record, state: row.state });
  contents.append(orgId, [row.event(named)], editorId);
  return undefined;
}

function closeOrganisation(contents: Contents, orgId: string, editorId: string): ClosingError | undefined {
  const organisation = contents.organisations.get(orgId);
  if (organisation === undefined) return [5, 'ORG-oL9nT'];
  if (organisation.state === 'ORG_STATE_INACTIVE') return [9, 'EVENT-Dbs2g'];
  contents.organisations.set(orgId, { ...organisation, state: 'ORG_STATE_INACTIVE' });
  contents.append(orgId, [{ aggregateType: 'org', aggregateId: orgId, type: 'org.deactivated' }], editorId);
  return undefined;
}

function closeUserGrant(contents: Contents, orgId: string, id: string, editorId: string): ClosingError | undefined {
  const grants = contents.organisations.get(orgId)?.sections.get('userGrants') ?? new Map();
  for (const [key, { json }] of grants) {
    const [grant = {}] = elements(json);
    if (userGrantId(grant) !== id) continue;
    if (grant.state === 'USER_GRANT_STATE_INACTIVE') return [9, 'COMMAND-1S9gx'];
    contents.put(orgId, 'userGrants', key, { ...grant, state: 'USER_GRANT_STATE_INACTIVE' });
    contents.append(orgId, [{ aggregateType: 'usergrant', aggregateId: id, type: 'user.grant.deactivated' }], editorId);
    return undefined;
  }
  return [5, 'COMMAND-3M9sd'];
}

/** Returns the id of the aggregate of a user grant. ZITADEL generates these ids, and no import contains them. */
export function userGrantId({ userId, projectId }: JsonObject): string {
  return `${String(userId)}-${String(projectId)}`;
}

/** Returns the events about the state of a user that an import has created. */
export function userStateEvents({ userId, state }: JsonObject): EventDraft[] {
  const type = createdStates.get(state);
  return type === undefined ? [] : [{ aggregateType: 'user', aggregateId: String(userId), type }];
}

const createdStates: ReadonlyMap<unknown, string> = new Map([
  ['USER_STATE_INACTIVE', 'user.deactivated'],
  ['USER_STATE_LOCKED', 'user.locked'],
  ['USER_STATE_INITIAL', 'user.human.initialization.code.added'],
]);
