import type { JsonObject } from '../json/jsonObject.ts';

/** How a release of ZITADEL is recognised, and the behaviour of its imports that no fact of a section states. */
export interface ReleaseRow {
  /** The number of the release, or the month of its first patches. */
  readonly name: string;
  /** The first number of its versions. */
  readonly major: number;
  /**
   * A field that this release imports and earlier releases skip, and an organisation in which the field has a value of
   * the wrong type. `none` is the reason why no response distinguishes this release from the release before.
   */
  readonly sign: { readonly field: string; readonly organisation: JsonObject } | { readonly none: string };
  /** Whether imports and exports contain the states of organisations and users. */
  readonly hasStates: boolean;
  /** Whether new events of an aggregate get the owner of its first event. Seen for 2.71 and 4, assumed for 3. */
  readonly writesToFirstOwner: boolean;
}

const patched = { none: 'patches of several minor releases, each of which has the fields of its minor release' };
const before4 = { hasStates: false, writesToFirstOwner: true };
const since4 = { hasStates: true, writesToFirstOwner: false };

/** ZITADEL's releases in order, as far as their imports and exports differ. Releases with a date are patches of 4. */
export const zitadelReleases = [
  { name: '2', major: 2, sign: { none: 'its imports have no field that later releases lack' }, ...before4 },
  { name: '3', major: 3, sign: { none: 'its imports have the fields of release 2' }, ...before4 },
  { name: '4', major: 4, sign: { field: 'orgState', organisation: { orgState: true } }, ...since4 },
  { name: 'June 2026', major: 4, sign: patched, ...since4 },
  { name: 'July 2026', major: 4, sign: patched, ...since4 },
] as const satisfies readonly ReleaseRow[];

/** A release of ZITADEL. */
export type ZitadelRelease = (typeof zitadelReleases)[number]['name'];
