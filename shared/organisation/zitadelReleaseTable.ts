import type { JsonObject } from '../json/jsonObject.ts';

/**
 * Describes how to recognise a release of ZITADEL, and how it imports organisations. The facts in the sections describe
 * the other differences between releases.
 */
export interface ReleaseRow {
  /** The number of the release. For patches of an earlier release, the month of the first of these patches. */
  readonly name: string;
  readonly major: number;
  /**
   * `field` is a field of imports that earlier releases do not know. In `organisation`, this field has a value of the
   * wrong type. So this release and later releases reject `organisation`, whereas earlier releases ignore the field. If
   * there is no such field, `none` is the reason.
   */
  readonly sign: { readonly field: string; readonly organisation: JsonObject } | { readonly none: string };
  /** True if the imports and exports of the release contain the states of organisations and users. */
  readonly hasStates: boolean;
  /**
   * True if ZITADEL stores all events of an aggregate, such as a user, under the owner of the first event. The values
   * of 2.71 and 4 were observed. The value of 3 is assumed.
   */
  readonly writesToFirstOwner: boolean;
}

const patched = { none: 'patches of several minor releases, each of which has the fields of its minor release' };
const before4 = { hasStates: false, writesToFirstOwner: true };
const since4 = { hasStates: true, writesToFirstOwner: false };

/**
 * The releases of ZITADEL that differ in imports or exports, from the oldest to the newest. A release with a month as
 * its name consists of patches of release 4.
 */
export const zitadelReleases = [
  { name: '2', major: 2, sign: { none: 'its imports have no field that later releases lack' }, ...before4 },
  { name: '3', major: 3, sign: { none: 'its imports have the fields of release 2' }, ...before4 },
  { name: '4', major: 4, sign: { field: 'orgState', organisation: { orgState: true } }, ...since4 },
  { name: 'June 2026', major: 4, sign: patched, ...since4 },
  { name: 'July 2026', major: 4, sign: patched, ...since4 },
] as const satisfies readonly ReleaseRow[];

export type ZitadelRelease = (typeof zitadelReleases)[number]['name'];
