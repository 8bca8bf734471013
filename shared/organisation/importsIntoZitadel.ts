import type { Fact } from './zitadelFacts.ts';
import { releasesWithoutStates, releasesWithStates, writingToFirstOwner, writingToOwner } from './zitadelReleases.ts';

interface KindLists {
  /** The kinds of records for which ZITADEL may treat names that differ only in case as equal. */
  readonly caseless: string;
  /**
   * The kinds of records that stay active until the end of an import. The command then deactivates the records that are
   * inactive in the file.
   */
  readonly closedLast: string;
}

/** A fact about imports into ZITADEL. `plan` returns a sentence about the fact for a migration plan. */
type ImportFact = Pick<Fact, 'since' | 'until' | 'ifKnown'> & {
  readonly plan: (kinds: KindLists) => string;
};

const refusedIds = (elsewhere: string) => () =>
  `ZITADEL does not import some records, which the result lists as errors: records with an id that another organisation uses; all records of a deleted organisation; records with the id of a user, project or action that was deleted with its organisation; ${elsewhere}and records with the id of a deleted action or application`;

const openForAWhile =
  (users: string) =>
  ({ closedLast }: KindLists) =>
    `${users} can log in to ZITADEL for up to a minute, until the request that creates them ends and this command deactivates or locks them. At the end of the import, the command deactivates inactive records of other kinds: ${closedLast}`;

/** The facts about imports into ZITADEL, in the order in which migration plans list them. */
export const importFacts: readonly ImportFact[] = [
  {
    ...writingToFirstOwner,
    plan: refusedIds(
      'records with the id of a user, project or action that was deleted in another organisation, because this release would write the records into that organisation; ',
    ),
  },
  {
    ...writingToOwner,
    ifKnown: true,
    plan: refusedIds(''),
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
