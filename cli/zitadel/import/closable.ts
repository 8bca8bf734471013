// The records that a ZITADEL can close: deactivate, or lock.

import type { Client } from '@connectrpc/connect';
import type { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { SectionName } from '../../../shared/organisation/section.ts';
import { isClosed } from '../../../shared/organisation/states.ts';
import { type CreationEvent, creationEventOf } from '../creationEvents.ts';
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
  readonly sections: readonly [SectionName, ...SectionName[]];
  /** The first words of its events' types. */
  readonly prefix: string;
  /** Whether a record is closed right after the request that creates it; by default at the end of the import. */
  readonly isAtOnce?: true;
  readonly close: (management: Management, place: EventPlace, json: JsonObject) => Promise<unknown>;
  /** Closes a record whose state is to be `LOCKED`, or that cannot be deactivated. */
  readonly lock?: (management: Management, place: EventPlace) => Promise<unknown>;
  /** The calls that open a record again: after `close`, and after `lock`. */
  readonly reopen?: readonly ((management: Management, place: EventPlace) => Promise<unknown>)[];
}

/** All kinds, in the order of closing: an inactive organisation or project may reject later calls. */
export const closables: readonly Closable[] = [
  {
    sections: ['humanUsers', 'machineUsers'],
    prefix: 'user.',
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
    prefix: 'user.grant.',
    close: (management, { aggregateId }, json) =>
      management.deactivateUserGrant({ userId: textAt(json, 'userId', ''), grantId: aggregateId }),
  },
  {
    sections: ['projectGrants'],
    prefix: 'project.grant.',
    close: (management, { aggregateId, part }) =>
      management.deactivateProjectGrant({ projectId: aggregateId, grantId: part }),
  },
  {
    sections: ['apiApps', 'oidcApps'],
    prefix: 'project.application.',
    close: (management, { aggregateId, part }) => management.deactivateApp({ projectId: aggregateId, appId: part }),
  },
  {
    sections: ['actions'],
    prefix: 'action.',
    close: (management, { aggregateId }) => management.deactivateAction({ id: aggregateId }),
  },
  {
    sections: ['projects'],
    prefix: 'project.',
    close: (management, { aggregateId }) => management.deactivateProject({ id: aggregateId }),
  },
  {
    sections: ['org'],
    prefix: 'org.',
    close: (management) => management.deactivateOrg({}),
  },
];

/** Returns the kind of a section's records; undefined for records without states. */
export function closableOf(section: string): Closable | undefined {
  return closables.find(({ sections }) => sections.some((name) => name === section));
}

/** Whether the file has a record as closed, which a ZITADEL can close. */
export function mustBeClosed({ section, state }: Pick<OrganisationRecord, 'section' | 'state'>): boolean {
  return isClosed(state?.value) && closableOf(section.name) !== undefined;
}

/** Returns the key of a place. */
export function placeKey({ aggregateId, part }: EventPlace): string {
  return JSON.stringify([aggregateId, part]);
}

/** The event that creates the records of a kind. Those of all its sections are of the same aggregates. */
function creationOf({ sections: [section] }: Closable): CreationEvent {
  return creationEventOf(section);
}

/** Whether only the event of a record's creation shows the place of its events. */
export function hasGeneratedPlace(kind: Closable): boolean {
  return creationOf(kind).aggregateId === undefined;
}

/** Returns the place of a record's events; undefined if only the event of its creation shows it. */
export function placeOf(kind: Closable, json: JsonObject, orgId: string): EventPlace | undefined {
  const { aggregateId, fields = {} } = creationOf(kind);
  if (aggregateId === undefined) return undefined;
  const [part] = Object.values(fields);
  return { aggregateId: textAt(json, aggregateId, orgId), part: part === undefined ? '' : textAt(json, part, orgId) };
}

/** Returns the place of an event. */
export function eventPlace(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): EventPlace {
  const { aggregateId, fields = {} } = creationOf(kind);
  const [part] = aggregateId === undefined ? [] : Object.keys(fields);
  return { aggregateId: event.aggregateId, part: part === undefined ? '' : textAt(event.payload, part, '') };
}

/** Returns the key of the place of an event. */
export function eventPlaceKey(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): string {
  return placeKey(eventPlace(kind, event));
}

/** The last words of the types of events that close or open a record. */
const stateChanges = ['deactivated', 'reactivated'];
const userStateChanges = ['locked', 'unlocked', 'human.initialization.check.succeeded'];

// A search of event types that a release does not know fails, unless it names the type of the aggregate.

/** Returns the selection of the events that close or open records. */
export function stateEvents(kind: Closable): EventQuery {
  const { prefix, lock } = kind;
  const ends = [...stateChanges, ...(lock === undefined ? [] : userStateChanges)];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: ends.map((end) => `${prefix}${end}`) };
}

/** Whether an event closes its record. */
export function isClosing({ type }: Pick<ZitadelEvent, 'type'>): boolean {
  return /\.(?:deactivated|locked)$/.test(type);
}

/** Returns the selection of the events that concern the records themselves: of a user, every event. */
export function ownEvents(kind: Closable): EventQuery {
  const { prefix, lock } = kind;
  const { aggregateType } = creationOf(kind);
  if (lock !== undefined) return { aggregateTypes: [aggregateType] };
  const ends = ['added', 'changed', 'cascade.changed', ...stateChanges, 'removed'];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: ends.map((end) => `${prefix}${end}`) };
}
