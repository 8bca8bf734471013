// The records that a ZITADEL can close: deactivate, or lock.

import type { Client } from '@connectrpc/connect';
import type { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { isClosed } from '../../../shared/exportFile/leftToDoRules.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { SectionName } from '../../../shared/organisation/section.ts';
import type { EventQuery, ZitadelEvent } from '../events.ts';

/** The place of a record's events: an aggregate, and the record in it. */
export interface EventPlace {
  readonly aggregateId: string;
  /** Empty if the aggregate is the record. */
  readonly part: string;
}

type Management = Client<typeof ManagementService>;

/** A kind of records that a ZITADEL can close. */
export interface Closable {
  readonly sections: readonly SectionName[];
  readonly aggregateType: string;
  /** The first words of its events' types. */
  readonly prefix: string;
  /** The types of the events that create a record. */
  readonly creations: readonly string[];
  /** The field of an event that identifies the record in its aggregate. */
  readonly part?: 'appId' | 'grantId';
  /** Returns the place of a record's events; undefined if only the event of its creation shows it. */
  readonly placeOf: (json: JsonObject, orgId: string) => EventPlace | undefined;
  /** The fields that identify a record and the event of its creation, if only that event shows its place. */
  readonly createdWith?: readonly string[];
  /** Whether a record is closed right after the request that creates it; by default at the end of the import. */
  readonly isAtOnce?: true;
  readonly close: (management: Management, place: EventPlace, json: JsonObject) => Promise<unknown>;
  /** Closes a record whose state is to be `LOCKED`, or that cannot be deactivated. */
  readonly lock?: (management: Management, place: EventPlace) => Promise<unknown>;
  /** The calls that open a record again: after `close`, and after `lock`. */
  readonly reopen?: readonly ((management: Management, place: EventPlace) => Promise<unknown>)[];
}

const aggregate = (path: string) => (json: JsonObject, orgId: string) => ({
  aggregateId: textAt(json, path, orgId),
  part: '',
});

/** All kinds, in the order of closing: an inactive organisation or project may reject later calls. */
export const closables: readonly Closable[] = [
  {
    sections: ['humanUsers', 'machineUsers'],
    aggregateType: 'user',
    prefix: 'user.',
    creations: ['user.human.added', 'user.machine.added'],
    placeOf: aggregate('userId'),
    isAtOnce: true,
    close: (management, { aggregateId }) => management.deactivateUser({ id: aggregateId }),
    lock: (management, { aggregateId }) => management.lockUser({ id: aggregateId }),
    reopen: [
      (management, { aggregateId }) => management.reactivateUser({ id: aggregateId }),
      (management, { aggregateId }) => management.unlockUser({ id: aggregateId }),
    ],
  },
  {
    sections: ['userGrants'],
    aggregateType: 'usergrant',
    prefix: 'user.grant.',
    creations: ['user.grant.added'],
    placeOf: () => undefined,
    createdWith: ['userId', 'projectId'],
    close: (management, { aggregateId }, json) =>
      management.deactivateUserGrant({ userId: textAt(json, 'userId', ''), grantId: aggregateId }),
  },
  {
    sections: ['projectGrants'],
    aggregateType: 'project',
    prefix: 'project.grant.',
    creations: ['project.grant.added'],
    part: 'grantId',
    placeOf: (json) => ({
      aggregateId: textAt(json, 'projectGrant.projectId', ''),
      part: textAt(json, 'grantId', ''),
    }),
    close: (management, { aggregateId, part }) =>
      management.deactivateProjectGrant({ projectId: aggregateId, grantId: part }),
  },
  {
    sections: ['apiApps', 'oidcApps'],
    aggregateType: 'project',
    prefix: 'project.application.',
    creations: ['project.application.added'],
    part: 'appId',
    placeOf: (json) => ({ aggregateId: textAt(json, 'app.projectId', ''), part: textAt(json, 'appId', '') }),
    close: (management, { aggregateId, part }) => management.deactivateApp({ projectId: aggregateId, appId: part }),
  },
  {
    sections: ['actions'],
    aggregateType: 'action',
    prefix: 'action.',
    creations: ['action.added'],
    placeOf: aggregate('actionId'),
    close: (management, { aggregateId }) => management.deactivateAction({ id: aggregateId }),
  },
  {
    sections: ['projects'],
    aggregateType: 'project',
    prefix: 'project.',
    creations: ['project.added'],
    placeOf: aggregate('projectId'),
    close: (management, { aggregateId }) => management.deactivateProject({ id: aggregateId }),
  },
  {
    sections: ['org'],
    aggregateType: 'org',
    prefix: 'org.',
    creations: ['org.added'],
    placeOf: aggregate('$orgId'),
    close: (management) => management.deactivateOrg({}),
  },
];

/** Returns the kind of a section's records; undefined for records without states. */
export function closableOf(section: string): Closable | undefined {
  return closables.find(({ sections }) => sections.some((name) => name === section));
}

/** Whether the file has a record as closed, which a ZITADEL can close. */
export function mustBeClosed({ section, state }: Pick<OrganisationRecord, 'section' | 'state'>): boolean {
  return isClosed(state) && closableOf(section.name) !== undefined;
}

/** Returns the key of a place. */
export function placeKey({ aggregateId, part }: EventPlace): string {
  return JSON.stringify([aggregateId, part]);
}

/** Returns the key of the place of an event. */
export function eventPlaceKey({ part }: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): string {
  const inAggregate = part === undefined ? '' : event.payload[part];
  return placeKey({ aggregateId: event.aggregateId, part: typeof inAggregate === 'string' ? inAggregate : '' });
}

/** The last words of the types of events that close or open a record. */
const stateChanges = ['deactivated', 'reactivated'];
const userStateChanges = ['locked', 'unlocked', 'human.initialization.check.succeeded'];

// A search of event types that a release does not know fails, unless it names the type of the aggregate.

/** Returns the selection of the events that create records. */
export function creationEvents({ aggregateType, creations }: Closable): EventQuery {
  return { aggregateTypes: [aggregateType], eventTypes: creations };
}

/** Returns the selection of the events that close or open records. */
export function stateEvents({ aggregateType, prefix, lock }: Closable): EventQuery {
  const ends = [...stateChanges, ...(lock === undefined ? [] : userStateChanges)];
  return { aggregateTypes: [aggregateType], eventTypes: ends.map((end) => `${prefix}${end}`) };
}

/** Whether an event closes its record. */
export function isClosing({ type }: Pick<ZitadelEvent, 'type'>): boolean {
  return /\.(?:deactivated|locked)$/.test(type);
}

/** Returns the selection of the events that concern the records themselves: of a user, every event. */
export function ownEvents({ aggregateType, prefix, lock }: Closable): EventQuery {
  if (lock !== undefined) return { aggregateTypes: [aggregateType] };
  const ends = ['added', 'changed', 'cascade.changed', ...stateChanges, 'removed'];
  return { aggregateTypes: [aggregateType], eventTypes: ends.map((end) => `${prefix}${end}`) };
}
