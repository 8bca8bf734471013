/** ZITADEL's releases, in their order, as far as imports and exports differ. Those with a date are patches of release 4. */
const zitadelReleases = ['2', '3', '4', 'June 2026', 'July 2026'] as const;

/** A release of ZITADEL. */
export type ZitadelRelease = (typeof zitadelReleases)[number];

/** Consecutive releases of ZITADEL; by default all. */
export interface ReleaseRange {
  readonly since?: ZitadelRelease;
  readonly until?: ZitadelRelease;
}

/** The releases that import and export the states of organisations and users. */
export const releasesWithStates: ReleaseRange = { since: '4' };
/** The other releases. */
export const releasesWithoutStates: ReleaseRange = { until: '3' };
/** The releases that a ZITADEL may be of if nothing is known about it. */
export const allReleases: ReleaseRange = {};
/** The releases that refuse a person whose password hash their settings do not allow. */
export const refusingHashes = { since: 'June 2026' } as const satisfies ReleaseRange;

/** Whether a ZITADEL that may be of some releases certainly imports and exports states. */
export function haveStates(releases: ReleaseRange): boolean {
  return contains(releasesWithStates, releases);
}

/** Whether two ranges have a release in common. */
export function overlap(one: ReleaseRange, other: ReleaseRange): boolean {
  const [first, last] = [position(one.since, 0), position(one.until, zitadelReleases.length)];
  return position(other.since, 0) <= last && first <= position(other.until, zitadelReleases.length);
}

/** Whether all releases of a range belong to the other. */
export function contains(outer: ReleaseRange, inner: ReleaseRange): boolean {
  const last = zitadelReleases.length;
  return (
    position(outer.since, 0) <= position(inner.since, 0) && position(inner.until, last) <= position(outer.until, last)
  );
}

function position(release: ZitadelRelease | undefined, byDefault: number): number {
  return release === undefined ? byDefault : zitadelReleases.indexOf(release);
}

/** Describes a range, such as `from June 2026 on`; the text for all releases is empty. */
export function describeReleases({ since, until }: ReleaseRange): string {
  if (since === undefined) return until === undefined ? '' : `up to ${releaseName(until)}`;
  return until === undefined ? `from ${releaseName(since)} on` : `from ${releaseName(since)} to ${releaseName(until)}`;
}

function releaseName(release: ZitadelRelease): string {
  return /^\d+$/.test(release) ? `release ${release}` : release;
}
