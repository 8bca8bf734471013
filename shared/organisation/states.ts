import type { SectionName } from './sections/section.ts';

/**
 * The sections whose records can be deactivated although ZITADEL's definition has no field for their state. Maps each
 * of these sections to the prefix of the states' names.
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
 * Returns the two states of a section's records, active and inactive. Returns undefined if the records cannot be
 * deactivated, or if their definition contains the state.
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
 * How this service knows the state of a record. `given`: the file contains the state. `derived`: the file does not
 * contain the state, and according to the manifest, the state is then the default. `unknown`: the file may omit the
 * state. If the state is unknown, an import creates a new record in the most likely state, and keeps the state of an
 * existing record.
 */
export const stateSources = ['given', 'derived', 'unknown'] as const;

export interface RecordState {
  /** The name of the state in ZITADEL's enumeration. */
  readonly value: string;
  readonly source: (typeof stateSources)[number];
}

export const stateFields: readonly string[] = ['state', 'orgState'];

/**
 * True if a user in this state has no access, or a record in this state is inactive. People in the state INITIAL can
 * still get access, because they can use a code.
 */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
