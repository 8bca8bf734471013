// The events that show that an import has created a record, and where.

import { textAt } from '../../../shared/json/jsonObject.ts';
import { canonicalLanguageTag } from '../../../shared/organisation/languageTag.ts';
import type { FieldPath } from '../../../shared/organisation/relations.ts';
import type { SectionName } from '../../../shared/organisation/section.ts';
import { recordSection } from '../../../shared/organisation/sections.ts';
import { Backoff, type RetryPolicy } from '../../../shared/retry.ts';
import { type EventTime, readEvents, type ZitadelEvent } from '../events.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import type { OutgoingRecord } from './outgoingRecords.ts';

/** The facts about a record that identify the event of its creation. */
type SentRecord = Pick<OutgoingRecord, 'position' | 'section' | 'orgId' | 'json'>;

/** The event of the creation of a section's records. */
interface CreationEvent {
  readonly aggregateType: string;
  readonly type: string;
  /** The path of the aggregate's id in the record; undefined if ZITADEL generates it. */
  readonly aggregateId?: FieldPath;
  /** The fields of the event that identify the record, with the paths of their values in the record. */
  readonly fields?: Readonly<Record<string, FieldPath>>;
  /** Whether the record's organisation may differ from the owner of the aggregate. */
  readonly isShared?: true;
}

const ofOrganisation = { aggregateType: 'org', aggregateId: '$orgId' } as const;
const policy = (name: string): CreationEvent => ({ ...ofOrganisation, type: `org.policy.${name}.added` });
const text = (template: string): CreationEvent => ({
  ...ofOrganisation,
  type: 'org.customtext.set',
  fields: { template: `=${template}`, language: 'language' },
});
const provider: CreationEvent = { ...ofOrganisation, type: 'org.idp.config.added', fields: { idpConfigId: 'idpId' } };
const application: CreationEvent = {
  aggregateType: 'project',
  aggregateId: 'app.projectId',
  type: 'project.application.added',
  fields: { appId: 'appId' },
};

/** The events by section, as 2.71 and 4.x write them. */
const creationEvents: Partial<Readonly<Record<SectionName, CreationEvent>>> = {
  org: { ...ofOrganisation, type: 'org.added' },
  domainPolicy: policy('domain'),
  labelPolicy: policy('label'),
  lockoutPolicy: policy('lockout'),
  loginPolicy: policy('login'),
  passwordComplexityPolicy: policy('password.complexity'),
  privacyPolicy: policy('privacy'),
  domains: { ...ofOrganisation, type: 'org.domain.added', fields: { domain: 'domainName' } },
  oidcIdps: provider,
  jwtIdps: provider,
  humanUsers: { aggregateType: 'user', aggregateId: 'userId', type: 'user.human.added' },
  machineUsers: { aggregateType: 'user', aggregateId: 'userId', type: 'user.machine.added' },
  userMetadata: { aggregateType: 'user', aggregateId: 'id', type: 'user.metadata.set', fields: { key: 'key' } },
  machineKeys: {
    aggregateType: 'user',
    aggregateId: 'userId',
    type: 'user.machine.key.added',
    fields: { keyId: 'keyId' },
  },
  userLinks: {
    aggregateType: 'user',
    aggregateId: 'userId',
    type: 'user.human.externalidp.added',
    fields: { idpConfigId: 'idpId', userId: 'providedUserId' },
  },
  projects: { aggregateType: 'project', aggregateId: 'projectId', type: 'project.added' },
  projectRoles: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.role.added',
    fields: { key: 'roleKey' },
  },
  apiApps: application,
  oidcApps: application,
  appKeys: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.application.oidc.key.added',
    fields: { keyId: 'id' },
  },
  actions: { aggregateType: 'action', aggregateId: 'actionId', type: 'action.added' },
  triggerActions: {
    ...ofOrganisation,
    type: 'org.flow.trigger_actions.set',
    fields: { flowType: 'flowType', triggerType: 'triggerType' },
  },
  projectGrants: {
    aggregateType: 'project',
    aggregateId: 'projectGrant.projectId',
    type: 'project.grant.added',
    fields: { grantId: 'grantId' },
  },
  userGrants: {
    aggregateType: 'usergrant',
    type: 'user.grant.added',
    fields: { userId: 'userId', projectId: 'projectId' },
  },
  orgMembers: { ...ofOrganisation, type: 'org.member.added', fields: { userId: 'userId' } },
  projectMembers: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.member.added',
    fields: { userId: 'userId' },
  },
  projectGrantMembers: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.grant.member.added',
    fields: { grantId: 'grantId', userId: 'userId' },
    isShared: true,
  },
  loginTexts: text('Login'),
  initMessages: text('InitCode'),
  passwordResetMessages: text('PasswordReset'),
  verifyEmailMessages: text('VerifyEmail'),
  verifyPhoneMessages: text('VerifyPhone'),
  domainClaimedMessages: text('DomainClaimed'),
  passwordlessRegistrationMessages: text('PasswordlessRegistration'),
  inviteUserMessages: text('InviteUser'),
};

/** Events are visible as soon as older transactions of the ZITADEL end. */
const defaultPolls: RetryPolicy = { attempts: () => 12, initialDelayMs: 100, maxDelayMs: 2_000 };

/** A search for the events of records that were sent. */
interface CreationSearch {
  /** The user of the token, who causes the events; undefined for any user. */
  readonly callerId: string | undefined;
  /** The time of the newest event before the records were sent. */
  readonly after: EventTime | undefined;
  /** Whether a record's event is waited for. */
  readonly isExpected: (record: SentRecord) => boolean;
}

/**
 * Returns the events of the creation of records, by their positions. Waits for those that are expected; a record whose
 * event does not appear is absent.
 */
export async function findCreations(
  connection: ZitadelConnection,
  records: readonly SentRecord[],
  { callerId, after, isExpected }: CreationSearch,
): Promise<ReadonlyMap<number, ZitadelEvent>> {
  const found = new Map<number, ZitadelEvent>();
  const events = records.flatMap(({ section }) => creationEvents[section] ?? []);
  if (events.length === 0) return found;
  const query = {
    aggregateTypes: [...new Set(events.map(({ aggregateType }) => aggregateType))],
    eventTypes: [...new Set(events.map(({ type }) => type))],
    ...(callerId === undefined ? {} : { editorId: callerId }),
    after,
  };
  const wanted = Map.groupBy(records, recordKey);
  const backoff = new Backoff(connection.polls ?? defaultPolls, connection.signal);
  do {
    for await (const page of readEvents(connection, query))
      for (const event of page)
        for (const key of eventKeys(event))
          for (const record of wanted.get(key) ?? [])
            if (isBetter(event, found.get(record.position), record)) found.set(record.position, event);
  } while (
    records.some((record) => isExpected(record) && !found.has(record.position) && recordKey(record) !== undefined) &&
    (await backoff.failed(undefined))
  );
  return found;
}

/** Whether an event is that of a record rather than another one: the first event in the record's organisation, if any. */
function isBetter({ owner }: ZitadelEvent, other: ZitadelEvent | undefined, { orgId }: SentRecord): boolean {
  return other === undefined || (other.owner !== orgId && owner === orgId);
}

/** Whether an event's owner is the organisation of the record. */
export function isInPlace({ owner }: ZitadelEvent, { section, orgId }: OutgoingRecord): boolean {
  return owner === orgId || creationEvents[section]?.isShared === true;
}

function recordKey({ section: name, orgId, json }: SentRecord): string | undefined {
  const event = creationEvents[name];
  if (event === undefined) return undefined;
  const { values = {} } = recordSection(name);
  const read = (path: FieldPath) => {
    const value = textAt(json, path, orgId);
    const converted = values[path]?.(value).value ?? value;
    return canonical(path, typeof converted === 'string' ? converted : value);
  };
  const { type, aggregateId, fields = {} } = event;
  return JSON.stringify([type, aggregateId === undefined ? '' : read(aggregateId), ...Object.values(fields).map(read)]);
}

function eventKeys({ type, aggregateId, payload }: ZitadelEvent): Set<string> {
  const events = Object.values(creationEvents).filter((event) => event.type === type);
  return new Set(
    events.map(({ fields = {}, ...event }) => {
      const values = Object.keys(fields).map((field) => canonical(field, String(payload[field] ?? '')));
      return JSON.stringify([type, event.aggregateId === undefined ? '' : aggregateId, ...values]);
    }),
  );
}

function canonical(field: string, value: string): string {
  return field === 'language' ? (canonicalLanguageTag(value) ?? value) : value;
}
