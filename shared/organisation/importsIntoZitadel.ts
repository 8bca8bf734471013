// Facts about imports into ZITADEL that do not depend on the records.

import type { Fact } from './zitadelFacts.ts';
import { releasesWithoutStates, releasesWithStates, writingToFirstOwner, writingToOwner } from './zitadelReleases.ts';

/** Lists of record kinds, as texts for use in sentences. */
interface KindLists {
  /** The kinds of records whose names ZITADEL may compare without case. */
  readonly caseless: string;
  /** The kinds whose inactive records the command deactivates at the end of an import. */
  readonly closedLast: string;
}

/** A fact about every import. Plans contain it as a sentence. */
type ImportFact = Pick<Fact, 'since' | 'until' | 'ifKnown'> & {
  readonly plan: (kinds: KindLists) => string;
};

const refusedIds = (others: string) => () =>
  `it does not import records with these ids, which the result lists as errors: ids that another organisation has, ids of deleted actions and applications, and ${others}`;

const openForAWhile =
  (users: string) =>
  ({ closedLast }: KindLists) =>
    `${users} can log in there for up to a minute, until the request that creates them ends and this command closes them. Closed records of other kinds are closed at the end: ${closedLast}`;

/** The facts about every import, in the order of plans. */
export const importFacts: readonly ImportFact[] = [
  {
    ...writingToFirstOwner,
    plan: refusedIds(
      'ids of organisations that were deleted, and of users, projects and actions that were deleted in another organisation, into which this release would write the records',
    ),
  },
  {
    ...writingToOwner,
    ifKnown: true,
    plan: refusedIds(
      "ids of people that were deleted with their organisation, and of organisations that were deleted while the token's user was a member",
    ),
  },
  { plan: () => 'it never overwrites records: existing records stay unchanged' },
  { plan: ({ caseless }) => `it ignores case in the names or keys of these kinds of records: ${caseless}` },
  { plan: () => 'imported records can take up to 2 s to appear in it' },
  { ...releasesWithoutStates, plan: openForAWhile('closed users') },
  { ...releasesWithStates, ifKnown: true, plan: openForAWhile('users whose closed state it does not import') },
];
