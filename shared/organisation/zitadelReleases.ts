import { defined } from '../defined.ts';
import { type ReleaseRow, type ZitadelRelease, zitadelReleases } from './zitadelReleaseTable.ts';

/**
 * A range of consecutive releases of ZITADEL, from `since` to `until`. If `since` is absent, the range begins with the
 * oldest release. If `until` is absent, it has no end.
 */
export interface ReleaseRange {
  readonly since?: ZitadelRelease;
  readonly until?: ZitadelRelease;
}

export const releasesWithoutStates = rangeOf(({ hasStates }) => !hasStates);
export const releasesWithStates = rangeOf(({ hasStates }) => hasStates);
/** The releases that store all events of an aggregate under the owner of the first event. */
export const writingToFirstOwner = rangeOf(({ writesToFirstOwner }) => writesToFirstOwner);
/** The releases that store new events of an aggregate under the owner that the request determines. */
export const writingToOwner = rangeOf(({ writesToFirstOwner }) => !writesToFirstOwner);
export const allReleases: ReleaseRange = {};
/** The releases that import a person only if ZITADEL's settings allow the password hash. */
export const refusingHashes = { since: 'June 2026' } as const satisfies ReleaseRange;

/**
 * Returns the range of the releases for which `behaves` returns true.
 * @throws Error if `behaves` returns true for no release, or if these releases are not consecutive
 */
function rangeOf(behaves: (release: ReleaseRow) => boolean): ReleaseRange {
  const matches = zitadelReleases.filter(behaves);
  const first = zitadelReleases.findIndex(behaves);
  const isRange = zitadelReleases.slice(first, first + matches.length).every(behaves);
  if (first < 0 || !isRange) {
    const names = matches.map(({ name }) => name).join(', ') || 'none';
    throw new Error(
      `not consecutive: the releases with the same hasStates or writesToFirstOwner (${names}); declare the difference of the last release in another way`,
    );
  }
  return rangeBetween(matches[0], matches.at(-1));
}

type NamedRelease = (typeof zitadelReleases)[number];

function rangeBetween(first: NamedRelease | undefined, last: NamedRelease | undefined): ReleaseRange {
  return defined({
    since: first === zitadelReleases[0] ? undefined : first?.name,
    until: last === zitadelReleases.at(-1) ? undefined : last?.name,
  });
}

export function haveStates(releases: ReleaseRange): boolean {
  return contains(releasesWithStates, releases);
}

/**
 * Consecutive releases that can be recognised by a field of imports (`ReleaseRow.sign`), because earlier releases lack
 * this field.
 */
export interface SignedReleases {
  readonly sign: Extract<ReleaseRow['sign'], { readonly field: string }>;
  readonly releases: ReleaseRange;
}

/**
 * Groups the releases by the field by which they can be recognised. `oldest` contains the releases that can be
 * recognised by no field.
 */
export function signedReleases(): { readonly newestFirst: readonly SignedReleases[]; readonly oldest: ReleaseRange } {
  const newestFirst: SignedReleases[] = [];
  let last = zitadelReleases.at(-1);
  for (const [index, release] of [...zitadelReleases.entries()].toReversed()) {
    if (!('field' in release.sign)) continue;
    newestFirst.push({ sign: release.sign, releases: rangeBetween(release, last) });
    last = zitadelReleases[index - 1];
  }
  return { newestFirst, oldest: rangeBetween(zitadelReleases[0], last) };
}

/** Whether a version, such as `v5.0.1`, is newer than all known releases. */
export function isNewerVersion(version: string): boolean {
  return zitadelReleases.every((release) => majorOf(version) > release.major);
}

function majorOf(version: string): number {
  return Number(/^v?(\d+)\./.exec(version)?.[1]);
}

/** Returns the major release of a version, such as `4.6`, and all later releases. */
export function releasesSince(version: string): ReleaseRange {
  const first = zitadelReleases.find(({ major }) => major >= majorOf(version));
  return rangeBetween(first, zitadelReleases.at(-1));
}

/**
 * Returns the releases of a range that have the same major number as a version. If there are none, returns the whole
 * range.
 */
export function releasesOfVersion(version: string, range: ReleaseRange): ReleaseRange {
  const releases = zitadelReleases.filter(
    ({ name, major }) => major === majorOf(version) && overlap(range, { since: name, until: name }),
  );
  return releases.length === 0 ? range : rangeBetween(releases[0], releases.at(-1));
}

export function overlap(range: ReleaseRange, other: ReleaseRange): boolean {
  const [first, last] = [position(range.since, 0), position(range.until, zitadelReleases.length)];
  return position(other.since, 0) <= last && first <= position(other.until, zitadelReleases.length);
}

export function contains(outer: ReleaseRange, inner: ReleaseRange): boolean {
  const last = zitadelReleases.length;
  return (
    position(outer.since, 0) <= position(inner.since, 0) && position(inner.until, last) <= position(outer.until, last)
  );
}

function position(release: ZitadelRelease | undefined, byDefault: number): number {
  return release === undefined ? byDefault : zitadelReleases.findIndex(({ name }) => name === release);
}

/** Describes a range, and replaces an open end with the newest known release, such as `from release 4 to July 2026`. */
export function describeKnownReleases({ since, until = zitadelReleases.at(-1)?.name }: ReleaseRange): string {
  return describeReleases(defined({ since, until }));
}

/** Describes a range, such as `from June 2026 on`. Returns an empty text if the range contains all releases. */
export function describeReleases({ since, until }: ReleaseRange): string {
  if (since !== undefined && since === until) return `in ${releaseName(since)}`;
  if (since === undefined) return until === undefined ? '' : `up to ${releaseName(until)}`;
  return until === undefined ? `from ${releaseName(since)} on` : `from ${releaseName(since)} to ${releaseName(until)}`;
}

function releaseName(release: ZitadelRelease): string {
  return /^\d+$/.test(release) ? `release ${release}` : release;
}
