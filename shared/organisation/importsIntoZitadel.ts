// Facts about imports into ZITADEL that do not depend on the records.

import type { Fact } from './zitadelFacts.ts';
import { releasesWithoutStates, releasesWithStates, writingToFirstOwner, writingToOwner } from './zitadelReleases.ts';

/** Enumerations of kinds of records, as texts that sentences of plans contain. */
interface KindLists {
  /** The kinds of records whose names ZITADEL may compare without case. */
  readonly caseless: string;
  /** The kinds of records that the command deactivates at the end of an import, if they are inactive in the file. */
  readonly closedLast: string;
}

/** A fact about every import into ZITADEL. `plan` returns the sentence that a migration plan contains. */
type ImportFact = Pick<Fact, 'since' | 'until' | 'ifKnown'> & {
  readonly plan: (kinds: KindLists) => string;
};

const refusedIds = (others: string) => () =>
  `ZITADEL does not import records with the following ids, and the result lists these records as errors: ids that another organisation uses, ids of deleted actions and applications, and ${others}`;

const openForAWhile =
  (users: string) =>
  ({ closedLast }: KindLists) =>
    `${users} can log in to ZITADEL for up to a minute, until the request that creates them ends and this command deactivates or locks them. At the end of the import, the command deactivates inactive records of other kinds: ${closedLast}`;

/** The facts about every import, in the order in which plans list them. */
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
  { plan: () => 'ZITADEL never overwrites records: existing records stay unchanged' },
  { plan: ({ caseless }) => `ZITADEL ignores case in the names or keys of these kinds of records: ${caseless}` },
  { plan: () => 'imported records can take up to 2 s to appear in ZITADEL' },
  { ...releasesWithoutStates, plan: openForAWhile('deactivated and locked users') },
  {
    ...releasesWithStates,
    ifKnown: true,
    plan: openForAWhile('deactivated and locked users whose state ZITADEL does not import'),
  },
];
