// The states of records.

import type { SectionName } from './sections/section.ts';

/** The prefixes of the states of records that can be deactivated but whose definitions have no field for a state. */
const stateTypes = {
  projects: 'PROJECT_STATE',
  apiApps: 'APP_STATE',
  oidcApps: 'APP_STATE',
  actions: 'ACTION_STATE',
  projectGrants: 'PROJECT_GRANT_STATE',
  userGrants: 'USER_GRANT_STATE',
} as const satisfies Partial<Record<SectionName, string>>;

/** The name of a section whose records can be deactivated. */
export type DeactivatableSection = keyof typeof stateTypes;

const statesByName: ReadonlyMap<string, readonly [usual: string, other: string]> = new Map(
  Object.entries(stateTypes).map(([name, type]) => [name, [`${type}_ACTIVE`, `${type}_INACTIVE`]]),
);

/** Returns the states of a section whose definition has no field for them; undefined for any other section. */
export function statesOf({ name }: { readonly name: string }): readonly [usual: string, other: string] | undefined {
  return statesByName.get(name);
}

/** Returns the state of a record without one, in a section whose definition has no field for a state. */
export function usualState(section: { readonly name: string }): string | undefined {
  return statesOf(section)?.[0];
}

/**
 * Where a record's state comes from: `given` if the record contains it; `derived` if the record lacks it, which means
 * the default according to its file; `unknown` if the file may omit it. Imports create records with an unknown state in
 * the most likely state, and keep the states of existing records.
 */
export const stateSources = ['given', 'derived', 'unknown'] as const;

/** The state of a record, determined when the record is read. */
export interface RecordState {
  /** The name in ZITADEL's enumeration. */
  readonly value: string;
  readonly source: (typeof stateSources)[number];
}

/** The fields that contain states: of records, and of organisations. */
export const stateFields: readonly string[] = ['state', 'orgState'];

/**
 * Whether a state means that a user has no access, or that a record is switched off. An initial person can still get
 * access with a code.
 */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
