import type { SectionName } from './sections/section.ts';

/**
 * Maps each section whose records can be deactivated, although their definition has no field for the state, to the
 * prefix of the states' names.
 */
const stateTypes = {
  projects: 'PROJECT_STATE',
  apiApps: 'APP_STATE',
  oidcApps: 'APP_STATE',
  actions: 'ACTION_STATE',
  projectGrants: 'PROJECT_GRANT_STATE',
  userGrants: 'USER_GRANT_STATE',
} as const satisfies Partial<Record<SectionName, string>>;

export type DeactivatableSection = keyof typeof stateTypes;

const statesByName: ReadonlyMap<string, readonly [usual: string, other: string]> = new Map(
  Object.entries(stateTypes).map(([name, type]) => [name, [`${type}_ACTIVE`, `${type}_INACTIVE`]]),
);

/**
 * Returns the two states of a section's records; undefined if the records cannot be deactivated, or if their definition
 * has a field for the state.
 */
export function statesOf({ name }: { readonly name: string }): readonly [usual: string, other: string] | undefined {
  return statesByName.get(name);
}

/** Returns the default state of a section's records; undefined if `statesOf` returns undefined. */
export function usualState(section: { readonly name: string }): string | undefined {
  return statesOf(section)?.[0];
}

export function isDeleted(state: string): boolean {
  return /_STATE_(?:DELETED|REMOVED)$/.test(state);
}

/** Whether a state is unspecified, such as `APP_STATE_UNSPECIFIED`, and therefore counts as absent. */
export function isUnspecified(value: unknown, [usual]: readonly [usual: string, other: string]): boolean {
  return value === usual.replace(/ACTIVE$/, 'UNSPECIFIED');
}

/**
 * How the state of a record was determined. `given`: the record contains the state. `derived`: the record contains no
 * state, and according to the manifest, a missing state is the default. `unknown`: the file may omit the state. Imports
 * create a record with an unknown state in its most likely state, and keep the state of an existing record.
 */
export const stateSources = ['given', 'derived', 'unknown'] as const;

export interface RecordState {
  /** The name of the state in ZITADEL's enumeration. */
  readonly value: string;
  readonly source: (typeof stateSources)[number];
}

export const stateFields: readonly string[] = ['state', 'orgState'];

/**
 * Whether a state means that a user has no access, or that a record is inactive. People in the state INITIAL can still
 * get access with a code.
 */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
