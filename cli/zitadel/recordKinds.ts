// A table of the kinds of records. For each kind, it contains the events and calls with which ZITADEL creates, deletes,
// deactivates and finds records. Types, checks and lists of the command follow from this table.

import type { Client } from '@connectrpc/connect';
import { ActionState } from '@zitadel/proto/zitadel/action_pb.js';
import { AppState } from '@zitadel/proto/zitadel/app_pb.js';
import type { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { type GrantedProject, ProjectGrantState, ProjectState } from '@zitadel/proto/zitadel/project_pb.js';
import { type UserGrant, UserGrantState } from '@zitadel/proto/zitadel/user_pb.js';
import { recordNoun } from '../../shared/errors/nouns.ts';
import { type JsonObject, textAt } from '../../shared/json/jsonObject.ts';
import type { FieldPath } from '../../shared/organisation/relations.ts';
import type { SectionName } from '../../shared/organisation/sections/section.ts';
import type { DeactivatableSection } from '../../shared/organisation/states.ts';
import type { SearchPage } from './rpc.ts';

export interface CreationEvent {
  readonly aggregateType: string;
  readonly type: string;
  /**
   * The path of the record's field that contains the id of the event's aggregate. Absent if ZITADEL generates this id.
   */
  readonly aggregateId?: FieldPath;
  /**
   * The fields of the event that identify the record. Each key is the name of a field in the event. Its value is the
   * path of the field in the record that contains the same text.
   */
  readonly fields?: Readonly<Record<string, FieldPath>>;
  /** Whether the record can belong to another organisation than the aggregate. */
  readonly isShared?: true;
  /**
   * Further types of events that remove the record. The list need not contain the usual type, such as
   * `org.member.removed`.
   */
  readonly alsoRemoved?: readonly string[];
  /** The name of a list in the event. If the list is empty, the event removes the record. */
  readonly list?: string;
}

/** The events of one type of aggregate that create and remove records. */
export interface EventStream {
  readonly aggregateType: string;
  readonly created: readonly string[];
  /** The types of events that remove a single record. */
  readonly removed: readonly string[];
  /** The type of the event that removes all records of an aggregate together. */
  readonly removedAggregate?: string;
  /** The type of the event that removes all records of a parent together, such as the keys of an application. */
  readonly removedParent?: string;
  /** The types of events that change the login name of a user. Absent if the records are not users. */
  readonly renamed?: readonly string[];
}

/** A set of ids in which each id belongs to at most one record of the instance. */
export interface IdSpace {
  readonly streams: readonly EventStream[];
  /** The fields of an event that can contain the id of the record. Absent if this id is the id of the aggregate. */
  readonly fields?: readonly string[];
  /** The field of an event that contains the id of the record's parent. Absent if the parent is the aggregate. */
  readonly parentField?: string;
  /**
   * The field of an event that contains the id of another organisation. Records of that organisation may refer to the
   * record.
   */
  readonly openTo?: string;
  /**
   * Present if an aggregate accepts each id only once, even after the deletion of the record. If an import uses the id
   * of a deleted record, ZITADEL reports that the record exists.
   */
  readonly isUsedOnce?: true;
  /**
   * Nouns for the records. The key is the type of the event that created the record. If absent, the noun follows from
   * the collection.
   */
  readonly nouns?: Readonly<Record<string, string>>;
}

/** Identifies the events of a record in ZITADEL. All events of the record belong to the same aggregate. */
export interface EventPlace {
  readonly aggregateId: string;
  /** The id of the record within the aggregate. Empty if the record itself is the aggregate. */
  readonly part: string;
}

type Management = Client<typeof ManagementService>;

/** @param aggregateId the id of the aggregate to which the record's events belong */
type Removal = (management: Management, json: JsonObject, aggregateId: string) => Promise<unknown>;

export interface Closing {
  /**
   * The text with which the types of all the record's events begin. Absent if it is the type of the creation event
   * without the last word `added`.
   */
  readonly prefix?: string;
  /**
   * Present if a record is closed right after the request that has created it. If absent, the record is closed at the
   * end of the import.
   */
  readonly isAtOnce?: true;
  readonly close: (management: Management, place: EventPlace, json: JsonObject) => Promise<unknown>;
  /** Locks a record. Used if the record is locked in the file, or if ZITADEL cannot deactivate it. */
  readonly lock?: (management: Management, place: EventPlace) => Promise<unknown>;
  /** The calls that undo `close` and `lock`. The command tries them in this order. */
  readonly reopen?: readonly ((management: Management, place: EventPlace) => Promise<unknown>)[];
  readonly search?: StateSearch;
  /**
   * The ids of ZITADEL's errors about a record that is already closed (`closed`), and about a record that can only be
   * locked (`onlyLocked`).
   */
  readonly errorIds?: { readonly closed: readonly string[]; readonly onlyLocked: readonly string[] };
}

/** Functions that search in an organisation. The header of each call selects the organisation. */
export interface OrganisationSearches {
  readonly calls: Management;
  /** Returns all results of a search. Throws an error if a result belongs to another organisation. */
  readonly find: <Found extends Owned>(ask: SearchPage<Found>) => Promise<Found[]>;
}

interface Owned {
  readonly details?: { readonly resourceOwner: string } | undefined;
}

interface FoundRecord {
  readonly json: JsonObject;
  readonly isInactive: boolean;
}

/** A search that returns the states of records, because ZITADEL's exports leave states out. */
interface StateSearch {
  /**
   * Present if the search returns whole records. They are necessary because the export of a single organisation lacks
   * records that concern other organisations.
   */
  readonly findsOthers?: true;
  /** @param records the records of this kind that the export contains */
  readonly find: (searches: OrganisationSearches, records: readonly JsonObject[]) => Promise<readonly FoundRecord[]>;
}

function searchBy<Found extends Owned>(
  list: (calls: Management, query: Parameters<SearchPage<Found>>[0]) => ReturnType<SearchPage<Found>>,
  toRecord: (result: Found) => FoundRecord,
): StateSearch['find'] {
  return async ({ calls, find }) => (await find((query) => list(calls, query))).map(toRecord);
}

interface RecordKind {
  /**
   * The event that an import writes for a new record, in releases 2.71 and 4.x. `never` if imports drop such records.
   */
  readonly created: CreationEvent | 'never';
  /** `none` for records that have no id of their own. */
  readonly ids: IdSpace | 'none';
  /**
   * `never` for organisations and for domain policies. A mirroring import deletes no domain policy, because an export
   * contains the instance's policy if the organisation has none of its own.
   */
  readonly remove: Removal | 'never';
  /**
   * The ids of errors with which ZITADEL rejects the deletion of a record that it does not have. The code NotFound need
   * not be listed.
   */
  readonly absent?: readonly string[];
}

/**
 * The property `closing` is required for a section whose records have states in this service or in ZITADEL. It is
 * forbidden for all other sections.
 */
type Closable<Name extends SectionName> = Name extends DeactivatableSection
  ? { readonly closing: Closing & { readonly search: StateSearch } }
  : Name extends 'org' | 'humanUsers' | 'machineUsers'
    ? { readonly closing: Closing }
    : { readonly closing?: undefined };

const ofOrganisation = { aggregateType: 'org', aggregateId: '$orgId' } as const;
const ofUser = { aggregateType: 'user', aggregateId: 'userId' } as const;
const ofProject = { aggregateType: 'project', aggregateId: 'projectId' } as const;

/** Creates a row of `recordKinds` for records that have no id of their own. */
function part(created: CreationEvent, remove: RecordKind['remove']) {
  return { created, ids: 'none', remove } as const;
}

/** Creates a row of `recordKinds` for records that have an id of their own. */
function withOwnIds(
  created: CreationEvent,
  removal: Pick<EventStream, 'removed' | 'removedAggregate'>,
  remove: Removal,
  more?: Pick<IdSpace, 'openTo' | 'isUsedOnce'>,
) {
  const { aggregateType, type, fields } = created;
  const stream = { aggregateType, created: [type], ...removal };
  return { created, ids: { ...(fields && { fields: Object.keys(fields) }), ...more, streams: [stream] }, remove };
}

/** @param remove deletes an organisation's own policy, so that the instance's policy applies */
function policy(name: string, remove: RecordKind['remove']) {
  return part({ ...ofOrganisation, type: `org.policy.${name}.added` }, remove);
}

/** @param reset deletes an organisation's own texts in a language, so that the instance's texts apply */
function text(template: string, reset: (management: Management, request: { language: string }) => Promise<unknown>) {
  const fields = { template: `=${template}`, language: 'language' };
  const alsoRemoved = ['org.customtext.template.removed'];
  return part({ ...ofOrganisation, type: 'org.customtext.set', fields, alsoRemoved }, (management, json) =>
    reset(management, { language: textAt(json, 'language', '') }),
  );
}

function fieldsOf<Name extends string>(
  json: JsonObject,
  paths: Readonly<Record<Name, FieldPath>>,
): Record<Name, string>;
function fieldsOf(json: JsonObject, paths: Readonly<Record<string, FieldPath>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, textAt(json, path, '')]));
}

const kindsOfProviders = [
  ...['apple', 'azure', 'github', 'github_enterprise', 'gitlab', 'gitlab_self_hosted', 'google', 'jwt'],
  ...['ldap', 'ldap.v2', 'oauth', 'oidc', 'saml'],
];

/**
 * @param configPrefix the beginning of the types of events about providers in ZITADEL's older form. The type of their
 * creation event ends with `config.added`
 */
function providerStream(aggregateType: string, prefix: string, configPrefix: string): EventStream {
  return {
    aggregateType,
    created: [`${configPrefix}.config.added`, ...kindsOfProviders.map((kind) => `${prefix}.${kind}.added`)],
    removed: [`${configPrefix}.config.removed`, `${prefix}.removed`],
  };
}

const provider: RecordKind = {
  created: { ...ofOrganisation, type: 'org.idp.config.added', fields: { idpConfigId: 'idpId' } },
  ids: {
    fields: ['idpConfigId', 'id'],
    streams: [providerStream('org', 'org.idp', 'org.idp'), providerStream('instance', 'instance.idp', 'iam.idp')],
  },
  remove: (management, json) => management.removeOrgIDP(fieldsOf(json, { idpId: 'idpId' })),
};

const person = { ...ofUser, type: 'user.human.added' };
const serviceUser = { ...ofUser, type: 'user.machine.added' };
const people = [person.type, 'user.human.selfregistered', 'user.added', 'user.selfregistered'];

const users = {
  ids: {
    streams: [
      {
        aggregateType: 'user',
        created: [...people, serviceUser.type],
        removed: ['user.removed'],
        renamed: ['user.username.changed', 'user.domain.claimed'],
      },
    ],
    nouns: {
      ...Object.fromEntries(people.map((type) => [type, recordNoun('humanUsers')])),
      [serviceUser.type]: recordNoun('machineUsers'),
    },
  },
  remove: (management, json) => management.removeUser(fieldsOf(json, { id: 'userId' })),
  closing: {
    prefix: 'user.',
    isAtOnce: true,
    close: (management, { aggregateId }) => management.deactivateUser({ id: aggregateId }),
    lock: (management, { aggregateId }) => management.lockUser({ id: aggregateId }),
    // ZITADEL cannot deactivate a person in the state INITIAL, only lock the person. The ids below were seen in
    // releases 2.71 and 4.x.
    errorIds: { closed: ['COMMAND-5M0sf', 'COMMAND-3NN8v'], onlyLocked: ['COMMAND-ke0fw'] },
    reopen: [
      (management, { aggregateId }) => management.reactivateUser({ id: aggregateId }),
      (management, { aggregateId }) => management.unlockUser({ id: aggregateId }),
    ],
  },
} satisfies Pick<RecordKind, 'ids' | 'remove'> & { closing: Closing };

const machineKey = { ...ofUser, type: 'user.machine.key.added', fields: { keyId: 'keyId' } };
const applicationKey = { ...ofProject, type: 'project.application.oidc.key.added', fields: { keyId: 'id' } };

const keys: IdSpace = {
  fields: ['keyId'],
  parentField: 'applicationId',
  streams: [
    {
      aggregateType: 'user',
      created: [machineKey.type],
      removed: ['user.machine.key.removed'],
      removedAggregate: 'user.removed',
    },
    {
      aggregateType: 'project',
      created: [applicationKey.type],
      removed: ['project.application.oidc.key.removed'],
      removedAggregate: 'project.removed',
      removedParent: 'project.application.removed',
    },
  ],
  nouns: { [machineKey.type]: recordNoun('machineKeys'), [applicationKey.type]: recordNoun('appKeys') },
};

const application = {
  ...withOwnIds(
    { ...ofProject, aggregateId: 'app.projectId', type: 'project.application.added', fields: { appId: 'appId' } },
    { removed: ['project.application.removed'], removedAggregate: 'project.removed' },
    (management, json) => management.removeApp(fieldsOf(json, { projectId: 'app.projectId', appId: 'appId' })),
    { isUsedOnce: true },
  ),
  closing: {
    close: (management, { aggregateId, part: appId }) => management.deactivateApp({ projectId: aggregateId, appId }),
    search: {
      find: async ({ calls, find }, apps) => {
        const records: FoundRecord[] = [];
        // This search ignores SAML applications, because ZITADEL's exports never contain them.
        for (const projectId of new Set(apps.map((app) => textAt(app, 'app.projectId', ''))))
          for (const { id, state, config } of await find((query) => calls.listApps({ projectId, query })))
            if (config.case !== 'samlConfig')
              records.push({ json: { appId: id }, isInactive: state === AppState.INACTIVE });
        return records;
      },
    },
  },
} satisfies RecordKind & Closable<'apiApps' | 'oidcApps'>;

/** The compiler reports a section without a row. */
export const recordKinds: { readonly [Name in SectionName]: RecordKind & Closable<Name> } = {
  org: {
    ...part({ ...ofOrganisation, type: 'org.added' }, 'never'),
    closing: { close: (management) => management.deactivateOrg({}) },
  },
  domainPolicy: policy('domain', 'never'),
  labelPolicy: policy('label', (management) => management.resetLabelPolicyToDefault({})),
  lockoutPolicy: policy('lockout', (management) => management.resetLockoutPolicyToDefault({})),
  loginPolicy: policy('login', (management) => management.resetLoginPolicyToDefault({})),
  passwordComplexityPolicy: policy('password.complexity', (management) =>
    management.resetPasswordComplexityPolicyToDefault({}),
  ),
  privacyPolicy: policy('privacy', (management) => management.resetPrivacyPolicyToDefault({})),
  domains: part({ ...ofOrganisation, type: 'org.domain.added', fields: { domain: 'domainName' } }, (management, json) =>
    management.removeOrgDomain(fieldsOf(json, { domain: 'domainName' })),
  ),
  oidcIdps: provider,
  jwtIdps: provider,
  humanUsers: { created: person, ...users },
  machineUsers: { created: serviceUser, ...users },
  userMetadata: part(
    { ...ofUser, aggregateId: 'id', type: 'user.metadata.set', fields: { key: 'key' } },
    (management, json) => management.removeUserMetadata(fieldsOf(json, { id: 'id', key: 'key' })),
  ),
  machineKeys: {
    created: machineKey,
    ids: keys,
    remove: (management, json) => management.removeMachineKey(fieldsOf(json, { userId: 'userId', keyId: 'keyId' })),
  },
  userLinks: part(
    {
      ...ofUser,
      type: 'user.human.externalidp.added',
      fields: { idpConfigId: 'idpId', userId: 'providedUserId' },
      alsoRemoved: ['user.human.externalidp.cascade.removed'],
    },
    (management, json) =>
      management.removeHumanLinkedIDP(
        fieldsOf(json, { userId: 'userId', idpId: 'idpId', linkedUserId: 'providedUserId' }),
      ),
  ),
  projects: {
    ...withOwnIds({ ...ofProject, type: 'project.added' }, { removed: ['project.removed'] }, (management, json) =>
      management.removeProject(fieldsOf(json, { id: 'projectId' })),
    ),
    closing: {
      close: (management, { aggregateId }) => management.deactivateProject({ id: aggregateId }),
      search: {
        find: searchBy(
          (calls, query) => calls.listProjects({ query }),
          ({ id, state }) => ({ json: { projectId: id }, isInactive: state === ProjectState.INACTIVE }),
        ),
      },
    },
  },
  projectRoles: part({ ...ofProject, type: 'project.role.added', fields: { key: 'roleKey' } }, (management, json) =>
    management.removeProjectRole(fieldsOf(json, { projectId: 'projectId', roleKey: 'roleKey' })),
  ),
  apiApps: application,
  oidcApps: application,
  appKeys: {
    created: applicationKey,
    ids: keys,
    remove: (management, json) =>
      management.removeAppKey(fieldsOf(json, { projectId: 'projectId', appId: 'appId', keyId: 'id' })),
  },
  actions: {
    ...withOwnIds(
      { aggregateType: 'action', aggregateId: 'actionId', type: 'action.added' },
      { removed: ['action.removed'] },
      (management, json) => management.deleteAction(fieldsOf(json, { id: 'actionId' })),
      { isUsedOnce: true },
    ),
    closing: {
      close: (management, { aggregateId }) => management.deactivateAction({ id: aggregateId }),
      search: {
        find: searchBy(
          (calls, query) => calls.listActions({ query }),
          ({ id, state }) => ({ json: { actionId: id }, isInactive: state === ActionState.INACTIVE }),
        ),
      },
    },
  },
  triggerActions: {
    ...part(
      {
        ...ofOrganisation,
        type: 'org.flow.trigger_actions.set',
        fields: { flowType: 'flowType', triggerType: 'triggerType' },
        alsoRemoved: ['org.flow.cleared'],
        list: 'actionIDs',
      },
      (management, json) =>
        management.setTriggerActions(fieldsOf(json, { flowType: 'flowType', triggerType: 'triggerType' })),
    ),
    absent: ['COMMAND-Nfh52'], // 2.71, 4.x
  },
  projectGrants: {
    ...withOwnIds(
      {
        ...ofProject,
        aggregateId: 'projectGrant.projectId',
        type: 'project.grant.added',
        fields: { grantId: 'grantId' },
      },
      { removed: ['project.grant.removed'], removedAggregate: 'project.removed' },
      (management, json) =>
        management.removeProjectGrant(fieldsOf(json, { projectId: 'projectGrant.projectId', grantId: 'grantId' })),
      { openTo: 'grantedOrgId' },
    ),
    closing: {
      close: (management, { aggregateId, part: grantId }) =>
        management.deactivateProjectGrant({ projectId: aggregateId, grantId }),
      search: {
        findsOthers: true,
        find: searchBy(
          (calls, query) => calls.listAllProjectGrants({ query }),
          (grant) => ({ json: projectGrantRecord(grant), isInactive: grant.state === ProjectGrantState.INACTIVE }),
        ),
      },
    },
  },
  userGrants: {
    ...part(
      {
        aggregateType: 'usergrant',
        type: 'user.grant.added',
        fields: { userId: 'userId', projectId: 'projectId' },
      },
      (management, json, aggregateId) =>
        management.removeUserGrant({ userId: textAt(json, 'userId', ''), grantId: aggregateId }),
    ),
    closing: {
      close: (management, { aggregateId }, json) =>
        management.deactivateUserGrant({ userId: textAt(json, 'userId', ''), grantId: aggregateId }),
      search: {
        findsOthers: true,
        find: searchBy(
          (calls, query) => calls.listUserGrants({ query }),
          (grant) => ({ json: userGrantRecord(grant), isInactive: grant.state === UserGrantState.INACTIVE }),
        ),
      },
    },
  },
  orgMembers: part(
    {
      ...ofOrganisation,
      type: 'org.member.added',
      fields: { userId: 'userId' },
      alsoRemoved: ['org.member.cascade.removed'],
    },
    (management, json) => management.removeOrgMember(fieldsOf(json, { userId: 'userId' })),
  ),
  projectMembers: part(
    {
      ...ofProject,
      type: 'project.member.added',
      fields: { userId: 'userId' },
      alsoRemoved: ['project.member.cascade.removed'],
    },
    (management, json) => management.removeProjectMember(fieldsOf(json, { projectId: 'projectId', userId: 'userId' })),
  ),
  projectGrantMembers: part(
    {
      ...ofProject,
      type: 'project.grant.member.added',
      fields: { grantId: 'grantId', userId: 'userId' },
      isShared: true,
      alsoRemoved: ['project.grant.member.cascade.removed'],
    },
    (management, json) =>
      management.removeProjectGrantMember(
        fieldsOf(json, { projectId: 'projectId', grantId: 'grantId', userId: 'userId' }),
      ),
  ),
  loginTexts: text('Login', (management, request) => management.resetCustomLoginTextToDefault(request)),
  initMessages: text('InitCode', (management, request) => management.resetCustomInitMessageTextToDefault(request)),
  passwordResetMessages: text('PasswordReset', (management, request) =>
    management.resetCustomPasswordResetMessageTextToDefault(request),
  ),
  verifyEmailMessages: text('VerifyEmail', (management, request) =>
    management.resetCustomVerifyEmailMessageTextToDefault(request),
  ),
  verifyPhoneMessages: text('VerifyPhone', (management, request) =>
    management.resetCustomVerifyPhoneMessageTextToDefault(request),
  ),
  verifySmsOtpMessages: {
    created: 'never',
    ids: 'none',
    remove: (management, json) =>
      management.resetCustomVerifySMSOTPMessageTextToDefault(fieldsOf(json, { language: 'language' })),
  },
  verifyEmailOtpMessages: {
    created: 'never',
    ids: 'none',
    remove: (management, json) =>
      management.resetCustomVerifyEmailOTPMessageTextToDefault(fieldsOf(json, { language: 'language' })),
  },
  domainClaimedMessages: text('DomainClaimed', (management, request) =>
    management.resetCustomDomainClaimedMessageTextToDefault(request),
  ),
  passwordlessRegistrationMessages: text('PasswordlessRegistration', (management, request) =>
    management.resetCustomPasswordlessRegistrationMessageTextToDefault(request),
  ),
  inviteUserMessages: text('InviteUser', (management, request) =>
    management.resetCustomInviteUserMessageTextToDefault(request),
  ),
};

function projectGrantRecord({ grantId, projectId, grantedOrgId, grantedRoleKeys }: GrantedProject): JsonObject {
  const roles = grantedRoleKeys.length === 0 ? {} : { roleKeys: grantedRoleKeys };
  return { grantId, projectGrant: { projectId, grantedOrgId, ...roles } };
}

function userGrantRecord({ userId, projectId, projectGrantId, roleKeys }: UserGrant): JsonObject {
  const grant = projectGrantId === '' ? {} : { projectGrantId };
  const roles = roleKeys.length === 0 ? {} : { roleKeys };
  return { userId, projectId, ...grant, ...roles };
}

/**
 * Returns the event that creates a record of the section. Returns undefined if ZITADEL's imports drop records of the
 * section.
 */
export function creationEvent(section: SectionName): CreationEvent | undefined {
  const { created } = recordKinds[section];
  return created === 'never' ? undefined : created;
}

/** Returns the beginning that the types of all events about a kind of record have in common, such as `org.member.`. */
export function eventPrefix({ type }: CreationEvent): string {
  return type.replace(/[^.]+$/, '');
}

/**
 * Returns the types of events that remove a record of the section. ZITADEL may write no such event if it removes the
 * record together with its parent.
 */
export function removalEvents(section: SectionName): readonly string[] {
  const created = creationEvent(section);
  if (created === undefined) return [];
  const { ids } = recordKinds[section];
  const streams =
    ids === 'none' ? [] : ids.streams.filter(({ aggregateType }) => aggregateType === created.aggregateType);
  const usual = ids === 'none' ? [`${eventPrefix(created)}removed`] : streams.flatMap(({ removed }) => removed);
  return [...usual, ...(created.alsoRemoved ?? []), ...(created.list === undefined ? [] : [created.type])];
}
