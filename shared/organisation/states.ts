// The states of records.

import type { SectionName } from './section.ts';

/** The first words of the states of records that may be deactivated, and whose definitions have no field for them. */
const stateTypes = {
  projects: 'PROJECT_STATE',
  apiApps: 'APP_STATE',
  oidcApps: 'APP_STATE',
  actions: 'ACTION_STATE',
  projectGrants: 'PROJECT_GRANT_STATE',
  userGrants: 'USER_GRANT_STATE',
} as const satisfies Partial<Record<SectionName, string>>;

/** The name of a section whose records may be deactivated. */
export type DeactivatableSection = keyof typeof stateTypes;

const statesByName: ReadonlyMap<string, readonly [usual: string, other: string]> = new Map(
  Object.entries(stateTypes).map(([name, type]) => [name, [`${type}_ACTIVE`, `${type}_INACTIVE`]]),
);

/** Returns the states of a section whose definition has no field for them; undefined for any other section. */
export function statesOf({ name }: { readonly name: string }): readonly [usual: string, other: string] | undefined {
  return statesByName.get(name);
}

/** Returns the state of a record that names none, in a section whose definition has no field for it. */
export function usualState(section: { readonly name: string }): string | undefined {
  return statesOf(section)?.[0];
}

/**
 * The source of a record's state: `given` by the record; `derived` if the record omits it and its file states that this
 * means the usual state; `unknown` if the file may omit it. Imports create records with an unknown state in the most likely
 * state, and leave the states of existing records as they are.
 */
export const stateSources = ['given', 'derived', 'unknown'] as const;

/** The state of a record, decided where the record is read. */
export interface RecordState {
  /** A name of ZITADEL's enumerations. */
  readonly value: string;
  readonly source: (typeof stateSources)[number];
}

/** The fields that contain states: of records, and of organisations. */
export const stateFields: readonly string[] = ['state', 'orgState'];

/** Whether a record in a state has no access, or is switched off. An initial person gets access by a code. */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
