// The ids that are unique in a ZITADEL instance, and the events that show who owns them.

import type { SectionName } from '../../../shared/organisation/section.ts';
import type { Collection } from '../../../shared/store/store.ts';
import { creationEventOf } from '../creationEvents.ts';

/** The events of one type of aggregate that create and remove the records of an id space. */
export interface EventStream {
  readonly aggregateType: string;
  readonly created: readonly string[];
  /** The events that remove the record with the id. */
  readonly removed: readonly string[];
  /** The events that remove all records with this aggregate. */
  readonly removedAggregate?: string;
  /** The events that remove all records with this parent, and the field with the parent's id. */
  readonly removedParent?: string;
}

/** A set of ids of which each belongs to one record of the instance. */
export interface IdSpace {
  readonly streams: readonly EventStream[];
  /** The fields of the event that contain the id; undefined if it is the aggregate's. */
  readonly fields?: readonly string[];
  /** The field with the id of the record that contains the record, if that is not the aggregate. */
  readonly parentField?: string;
  /** The field with the id of an organisation that may refer to the record as to its own. */
  readonly openTo?: string;
  /** The nouns for the records, by their first event; by default that of the collection. */
  readonly nouns?: Readonly<Record<string, string>>;
}

/** Returns the aggregate and the event with which imports create the records of a section. */
function imported(section: SectionName): Pick<EventStream, 'aggregateType' | 'created'> {
  const { aggregateType, type } = creationEventOf(section);
  return { aggregateType, created: [type] };
}

const kindsOfProviders = [
  ...['apple', 'azure', 'github', 'github_enterprise', 'gitlab', 'gitlab_self_hosted', 'google', 'jwt'],
  ...['ldap', 'ldap.v2', 'oauth', 'oidc', 'saml'],
];

/** @param configPrefix the prefix of providers of the older kind */
function providerStream(aggregateType: string, prefix: string, configPrefix: string): EventStream {
  return {
    aggregateType,
    created: [`${configPrefix}.config.added`, ...kindsOfProviders.map((kind) => `${prefix}.${kind}.added`)],
    removed: [`${configPrefix}.config.removed`, `${prefix}.removed`],
  };
}

const personNouns = Object.fromEntries(
  [creationEventOf('humanUsers').type, 'user.human.selfregistered', 'user.added', 'user.selfregistered'].map((type) => [
    type,
    'person',
  ]),
);

const keys: IdSpace = {
  fields: ['keyId'],
  parentField: 'applicationId',
  streams: [
    {
      ...imported('machineKeys'),
      removed: ['user.machine.key.removed'],
      removedAggregate: 'user.removed',
    },
    {
      ...imported('appKeys'),
      removed: ['project.application.oidc.key.removed'],
      removedAggregate: 'project.removed',
      removedParent: 'project.application.removed',
    },
  ],
  nouns: { [creationEventOf('machineKeys').type]: 'machine key', [creationEventOf('appKeys').type]: 'app key' },
};

/** The id spaces, by the collection of the records. Keys of service users and of applications share one. */
export const idSpaces: Partial<Readonly<Record<Collection, IdSpace>>> = {
  users: {
    streams: [
      {
        aggregateType: 'user',
        created: [...Object.keys(personNouns), creationEventOf('machineUsers').type],
        removed: ['user.removed'],
      },
    ],
    nouns: { ...personNouns, [creationEventOf('machineUsers').type]: 'service user' },
  },
  projects: { streams: [{ ...imported('projects'), removed: ['project.removed'] }] },
  actions: { streams: [{ ...imported('actions'), removed: ['action.removed'] }] },
  applications: {
    fields: ['appId'],
    streams: [
      {
        ...imported('oidcApps'),
        removed: ['project.application.removed'],
        removedAggregate: 'project.removed',
      },
    ],
  },
  projectGrants: {
    fields: ['grantId'],
    openTo: 'grantedOrgId',
    streams: [
      {
        ...imported('projectGrants'),
        removed: ['project.grant.removed'],
        removedAggregate: 'project.removed',
      },
    ],
  },
  identityProviders: {
    fields: ['idpConfigId', 'id'],
    streams: [providerStream('org', 'org.idp', 'org.idp'), providerStream('instance', 'instance.idp', 'iam.idp')],
  },
  machineKeys: keys,
  applicationKeys: keys,
};

/** Whether the ids of a space are those of aggregates, so that their events can be read by id. */
export function isOfAggregates({ fields }: IdSpace): boolean {
  return fields === undefined;
}
