/**
 * ZITADEL's releases in order, as far as their imports and exports differ. Releases with a date are patches of release
 * 4.
 */
export const zitadelReleases = ['2', '3', '4', 'June 2026', 'July 2026'] as const;

/** A release of ZITADEL. */
export type ZitadelRelease = (typeof zitadelReleases)[number];

/** Consecutive releases of ZITADEL; by default all. */
export interface ReleaseRange {
  readonly since?: ZitadelRelease;
  readonly until?: ZitadelRelease;
}

/** The releases that import and export states of organisations and users. */
export const releasesWithStates: ReleaseRange = { since: '4' };
/** The releases that do not. */
export const releasesWithoutStates: ReleaseRange = { until: '3' };
/** The range for an unknown release. */
export const allReleases: ReleaseRange = {};
/** The releases that refuse a person if their settings do not allow the password hash. */
export const refusingHashes = { since: 'June 2026' } as const satisfies ReleaseRange;

/** Whether all releases of a range import and export states. */
export function haveStates(releases: ReleaseRange): boolean {
  return contains(releasesWithStates, releases);
}

/** Whether two ranges have a release in common. */
export function overlap(one: ReleaseRange, other: ReleaseRange): boolean {
  const [first, last] = [position(one.since, 0), position(one.until, zitadelReleases.length)];
  return position(other.since, 0) <= last && first <= position(other.until, zitadelReleases.length);
}

/** Whether the outer range contains all releases of the inner range. */
export function contains(outer: ReleaseRange, inner: ReleaseRange): boolean {
  const last = zitadelReleases.length;
  return (
    position(outer.since, 0) <= position(inner.since, 0) && position(inner.until, last) <= position(outer.until, last)
  );
}

function position(release: ZitadelRelease | undefined, byDefault: number): number {
  return release === undefined ? byDefault : zitadelReleases.indexOf(release);
}

/** Describes a range, such as `from June 2026 on`; returns an empty text for all releases. */
export function describeReleases({ since, until }: ReleaseRange): string {
  if (since === undefined) return until === undefined ? '' : `up to ${releaseName(until)}`;
  return until === undefined ? `from ${releaseName(since)} on` : `from ${releaseName(since)} to ${releaseName(until)}`;
}

function releaseName(release: ZitadelRelease): string {
  return /^\d+$/.test(release) ? `release ${release}` : release;
}
