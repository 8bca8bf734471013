import type { JsonObject } from '../json/jsonObject.ts';

/**
 * How to recognise a release of ZITADEL, and how it imports organisations. The facts in the sections describe the rest
 * of its behaviour.
 */
export interface ReleaseRow {
  /** The number of the release, or the month of its first patches. */
  readonly name: string;
  readonly major: number;
  /**
   * A field of imports that earlier releases lack. In `organisation`, `field` has a value of the wrong type: this
   * release and later releases reject the value, whereas earlier releases skip the field. `none` is the reason if there
   * is no such field.
   */
  readonly sign: { readonly field: string; readonly organisation: JsonObject } | { readonly none: string };
  /** Whether imports and exports contain the states of organisations and users. */
  readonly hasStates: boolean;
  /**
   * Whether ZITADEL stores all events of an aggregate, such as a user, under the owner of the first event. The values
   * for 2.71 and 4 were observed; the value for 3 is assumed.
   */
  readonly writesToFirstOwner: boolean;
}

const patched = { none: 'patches of several minor releases, each of which has the fields of its minor release' };
const before4 = { hasStates: false, writesToFirstOwner: true };
const since4 = { hasStates: true, writesToFirstOwner: false };

/** ZITADEL's releases whose imports or exports differ, in order. Releases with a date are patches of release 4. */
export const zitadelReleases = [
  { name: '2', major: 2, sign: { none: 'its imports have no field that later releases lack' }, ...before4 },
  { name: '3', major: 3, sign: { none: 'its imports have the fields of release 2' }, ...before4 },
  { name: '4', major: 4, sign: { field: 'orgState', organisation: { orgState: true } }, ...since4 },
  { name: 'June 2026', major: 4, sign: patched, ...since4 },
  { name: 'July 2026', major: 4, sign: patched, ...since4 },
] as const satisfies readonly ReleaseRow[];

export type ZitadelRelease = (typeof zitadelReleases)[number]['name'];
