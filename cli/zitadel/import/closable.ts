// To close a record means to deactivate it or, for a user, to lock it.

import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type SectionName, zitadelSteps } from '../../../shared/organisation/sections/section.ts';
import { isClosed } from '../../../shared/organisation/states.ts';
import { type Closing, type CreationEvent, creationEvent, type EventPlace, recordKinds } from '../recordKinds.ts';
import type { EventQuery, ZitadelEvent } from '../zitadelEvents.ts';

export interface Closable extends Closing {
  readonly sections: readonly [SectionName, ...SectionName[]];
}

const steps: readonly string[] = zitadelSteps;

/**
 * Returns a number by which the kinds are sorted in the order of closing. Organisations and projects come late, because
 * ZITADEL can reject calls about records in an inactive organisation or project.
 */
function position({ isAtOnce, sections: [section] }: Closable): number {
  return -(isAtOnce === true ? steps.length : steps.indexOf(recordSection(section).zitadelStep));
}

/**
 * The kinds of records that ZITADEL can close, in the order in which the import closes them. Users come first. Records
 * that contain other records, such as projects, come last.
 */
export const closables: readonly Closable[] = [
  ...Map.groupBy(recordSections, ({ name }): Closing | undefined => recordKinds[name].closing),
]
  .flatMap(([closing, [first, ...others]]): Closable[] =>
    closing === undefined || first === undefined
      ? []
      : [{ ...closing, sections: [first.name, ...others.map(({ name }) => name)] }],
  )
  .toSorted((first, second) => position(first) - position(second));

/** Returns undefined if ZITADEL cannot close the records of the section. */
export function closableOf(section: string): Closable | undefined {
  return closables.find(({ sections }) => sections.some((name) => name === section));
}

export function mustBeClosed({ section, state }: Pick<OrganisationRecord, 'section' | 'state'>): boolean {
  return isClosed(state?.value) && closableOf(section.name) !== undefined;
}

export function placeKey({ aggregateId, part }: EventPlace): string {
  return JSON.stringify([aggregateId, part]);
}

/**
 * Returns the creation event of the kind's first section. The events of the other sections belong to the same type of
 * aggregate.
 */
function creationOf({ sections: [section] }: Closable): CreationEvent {
  const event = creationEvent(section);
  if (event === undefined) throw new Error(`no event creates ${section}`);
  return event;
}

/**
 * True if ZITADEL generates the id of the aggregate to which a record's events belong. Only the creation event then
 * contains this id; the file does not.
 */
export function hasGeneratedPlace(kind: Closable): boolean {
  return creationOf(kind).aggregateId === undefined;
}

/**
 * Returns the aggregate, and the part of the aggregate, to which a record's events belong. Returns undefined if only
 * the creation event contains the aggregate's id.
 */
export function placeOf(kind: Closable, json: JsonObject, orgId: string): EventPlace | undefined {
  const { aggregateId, fields = {} } = creationOf(kind);
  if (aggregateId === undefined) return undefined;
  const [part] = Object.values(fields);
  return { aggregateId: textAt(json, aggregateId, orgId), part: part === undefined ? '' : textAt(json, part, orgId) };
}

export function eventPlace(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): EventPlace {
  const { aggregateId, fields = {} } = creationOf(kind);
  const [part] = aggregateId === undefined ? [] : Object.keys(fields);
  return { aggregateId: event.aggregateId, part: part === undefined ? '' : textAt(event.payload, part, '') };
}

export function eventPlaceKey(kind: Closable, event: Pick<ZitadelEvent, 'aggregateId' | 'payload'>): string {
  return placeKey(eventPlace(kind, event));
}

const stateChanges = ['deactivated', 'reactivated'];
const userStateChanges = ['locked', 'unlocked', 'human.initialization.check.succeeded'];

// The queries of the functions below contain the type of the aggregate. Otherwise, ZITADEL rejects a query if its
// release knows none of the requested event types.

function typesOf(kind: Closable, ends: readonly string[]): string[] {
  const { prefix = creationOf(kind).type.replace(/added$/, '') } = kind;
  return ends.map((end) => `${prefix}${end}`);
}

export function stateEvents(kind: Closable): EventQuery {
  const { lock } = kind;
  const ends = [...stateChanges, ...(lock === undefined ? [] : userStateChanges)];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: typesOf(kind, ends) };
}

export function isClosing({ type }: Pick<ZitadelEvent, 'type'>): boolean {
  return /\.(?:deactivated|locked)$/.test(type);
}

/** Returns a query for the events about the records themselves. For users, returns a query for all events of users. */
export function ownEvents(kind: Closable): EventQuery {
  const { lock } = kind;
  const { aggregateType } = creationOf(kind);
  if (lock !== undefined) return { aggregateTypes: [aggregateType] };
  const ends = ['added', 'changed', 'cascade.changed', ...stateChanges, 'removed'];
  return { aggregateTypes: [creationOf(kind).aggregateType], eventTypes: typesOf(kind, ends) };
}
