// The kinds of records that ZITADEL can close, which means deactivate or lock.

import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type SectionName, zitadelSteps } from '../../../shared/organisation/sections/section.ts';
import { isClosed } from '../../../shared/organisation/states.ts';
import { type Closing, type CreationEvent, creationEvent, type EventPlace, recordKinds } from '../recordKinds.ts';
import type { EventQuery, ZitadelEvent } from '../zitadelEvents.ts';

/** A kind of records that ZITADEL can close. */
export interface Closable extends Closing {
  readonly sections: readonly [SectionName, ...SectionName[]];
}

const steps: readonly string[] = zitadelSteps;

/**
 * Returns the position of a kind in the order of closing. Organisations and projects come late, because ZITADEL can
 * reject calls about records of an inactive organisation or project.
 */
function position({ isAtOnce, sections: [section] }: Closable): number {
  return -(isAtOnce === true ? steps.length : steps.indexOf(recordSection(section).zitadelStep));
}

/** All kinds in the order of closing: users first, and records that contain other records, such as projects, last. */
export const closables: readonly Closable[] = [
  ...Map.groupBy(recordSections, ({ name }): Closing | undefined => recordKinds[name].closing),
]
  .flatMap(([closing, [first, ...others]]): Closable[] =>
    closing === undefined || first === undefined
      ? []
      : [{ ...closing, sections: [first.name, ...others.map(({ name }) => name)] }],
  )
  .toSorted((one, other) => position(one) - position(other));

/** Returns the kind of a section's records; undefined if the records have no states. */
export function closableOf(section: string): Closable | undefined {
  return closables.find(({ sections }) => sections.some((name) => name === section));
}

/** Whether a record is closed in the file, and ZITADEL can close it. */
export function mustBeClosed({ section, state }: Pick<OrganisationRecord, 'section' | 'state'>): boolean {
  return isClosed(state?.value) && closableOf(section.name) !== undefined;
}

/** Returns a text that identifies the place of events, for use as a key. */
export function placeKey({ aggregateId, part }: EventPlace): string {
  return JSON.stringify([aggregateId, part]);
}

/**
 * Returns the event that creates the records of a kind. The first section is enough, because the events of all sections
 * of a kind concern the same type of aggregate.
 */
function creationOf({ sections: [section] }: Closable): CreationEvent {
  const event = creationEvent(section);
  if (event === undefined) throw new Error(`no event creates ${section}`);
  return event;
}

/**
 * Whether ZITADEL generates the id of the aggregate with a record's events. Only the creation event then contains the
 * id.
 */
export function hasGeneratedPlace(kind: Closable): boolean {
  return creationOf(kind).aggregateId === undefined;
}

/** Returns the place of a record's events; undefined if only the creation event contains the aggregate's id. */
export function placeOf(kind: Closable, json: JsonObject, orgId: string): EventPlace | undefined {
  const { aggregateId, fields = {} } = creationOf(kind);
  if (aggregateId === undefined) return undefined;
  const [part] = Object.values(fields);
  return { aggregateId: textAt(json, aggregateId, orgId), part: part === undefined ? '' : textAt(json, part, orgId) };
}

/** Returns the place in which an event belongs: its aggregate, and the record within the aggregate. */
export function eventPlace(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): EventPlace {
  const { aggregateId, fields = {} } = creationOf(kind);
  const [part] = aggregateId === undefined ? [] : Object.keys(fields);
  return { aggregateId: event.aggregateId, part: part === undefined ? '' : textAt(event.payload, part, '') };
}

export function eventPlaceKey(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): string {
  return placeKey(eventPlace(kind, event));
}

/** The suffixes of the types of events that close or open a record. */
const stateChanges = ['deactivated', 'reactivated'];
const userStateChanges = ['locked', 'unlocked', 'human.initialization.check.succeeded'];

// The following searches include the type of the aggregate, because a release rejects a search if it does not know any
// of the requested types.

function typesOf(kind: Closable, ends: readonly string[]): string[] {
  const { prefix = creationOf(kind).type.replace(/added$/, '') } = kind;
  return ends.map((end) => `${prefix}${end}`);
}

/** Returns the selection of the events that close or open records. */
export function stateEvents(kind: Closable): EventQuery {
  const { lock } = kind;
  const ends = [...stateChanges, ...(lock === undefined ? [] : userStateChanges)];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: typesOf(kind, ends) };
}

/** Whether an event closes its record. */
export function isClosing({ type }: Pick<ZitadelEvent, 'type'>): boolean {
  return /\.(?:deactivated|locked)$/.test(type);
}

/** Returns the selection of the events about the records of a kind. For a user, selects every event. */
export function ownEvents(kind: Closable): EventQuery {
  const { lock } = kind;
  const { aggregateType } = creationOf(kind);
  if (lock !== undefined) return { aggregateTypes: [aggregateType] };
  const ends = ['added', 'changed', 'cascade.changed', ...stateChanges, 'removed'];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: typesOf(kind, ends) };
}
