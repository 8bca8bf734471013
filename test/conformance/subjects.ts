import { randomUUID } from 'node:crypto';
import type { Role } from './row.ts';

/** The people, service users and organisations that the rows are about. */
export type Subjects = Ids & {
  /** What has to be imported. */
  readonly organisations: readonly object[];
  /** Those who must have the factor. */
  readonly withFactors: readonly string[];
};

type Ids = ReturnType<typeof newIds>;

/** The users that send requests, by their role in the table. */
type Callers = Readonly<Record<Exclude<Role, 'owner'>, string>>;

// They have the same ids in every run, so that tokens can be made once; all other ids are new each time.
/** The users of whom `--tokens-file` can hold tokens, by their role in the table. */
export const callers: Callers = {
  orgOwner: 'conformance-org-owner',
  viewer: 'conformance-viewer',
  nobody: 'conformance-nobody',
  person: 'conformance-person',
  inactive: 'conformance-inactive',
  expired: 'conformance-org-owner',
};

const HOME = 'conformance-home';

/** The subjects of one run of the table, sent to this service. */
export function newSubjects(): Subjects {
  const ids = newIds(randomUUID(), { home: HOME, callers });
  return { ...ids, organisations: organisations(ids, 'USER_STATE_INACTIVE'), withFactors: withFactors(ids) };
}

/**
 * The subjects of one run against a ZITADEL. All ids are new: it does not take those of a deleted organisation again.
 */
export function newZitadelSubjects(): Subjects {
  const run = randomUUID();
  const fresh = (userId: string) => `${userId}-${run}`;
  const { orgOwner, viewer, nobody, person, inactive } = callers;
  const ids = newIds(run, {
    home: fresh(HOME),
    callers: {
      orgOwner: fresh(orgOwner),
      viewer: fresh(viewer),
      nobody: fresh(nobody),
      person: fresh(person),
      inactive: fresh(inactive),
      expired: fresh(orgOwner),
    },
  });
  // The recorded answers are about the person's whole life: the first of them adds the factor.
  const prepared = withFactors(ids).filter((userId) => userId !== ids.withFactor);
  // ZITADEL refuses tokens that are older than the deactivation of their user only: `zitadelTokens` deactivates it later.
  return { ...ids, organisations: organisations(ids, 'USER_STATE_ACTIVE'), withFactors: prepared };
}

function newIds(run: string, own: { readonly home: string; readonly callers: Callers }) {
  const id = (name: string) => `${name.replaceAll(/\W/g, '-')}-${run}`;
  return {
    ...own,
    /** Makes an id that no other run has. */
    id,
    /** Whether an organisation is one of this suite's. */
    isOwn: (orgId: string) => orgId === own.home || orgId.includes(run),
    other: id('other'),
    /** People of the home organisation: `with…` have the factor. */
    withFactor: id('with-factor'),
    withFactorToo: id('with-factor-too'),
    kept: id('kept'),
    withoutFactor: id('without-factor'),
    unverified: id('unverified'),
    /** Deleted on the way, where the server can. */
    removable: id('removable'),
    /** People of the other organisation. */
    foreign: id('foreign'),
    freeText: `auth0|${id('with')}`,
    freeTextWithout: `auth0|${id('without')}`,
    unicode: `é/${id('日本')}`,
  };
}

function withFactors({ callers: { person }, withFactor, withFactorToo, kept, foreign, freeText, unicode }: Ids) {
  return [person, withFactor, withFactorToo, kept, foreign, freeText, unicode];
}

function organisations(subjects: Ids, inactiveState: string) {
  const { home, other, withoutFactor, unverified, removable, freeTextWithout, foreign, freeText, unicode } = subjects;
  const { orgOwner, viewer, nobody, person, inactive } = subjects.callers;
  const factor = new Set(withFactors(subjects));
  const { withFactor, withFactorToo, kept } = subjects;
  const homePeople = [person, withoutFactor, unverified, removable, withFactor, withFactorToo, kept];
  const peopleOf = (ids: readonly string[]) => ids.map((userId) => personOf(userId, factor.has(userId), unverified));
  return [
    {
      orgId: home,
      org: { name: home === HOME ? 'Conformance' : `Conformance ${home}` },
      humanUsers: peopleOf(homePeople),
      machineUsers: [
        ...[orgOwner, viewer, nobody].map((userId) => serviceUser(userId)),
        { ...serviceUser(inactive), state: inactiveState },
      ],
      orgMembers: [
        { userId: orgOwner, roles: ['ORG_OWNER'] },
        { userId: viewer, roles: ['ORG_OWNER_VIEWER'] },
      ],
    },
    {
      orgId: other,
      org: { name: `Conformance ${other}` },
      humanUsers: peopleOf([foreign, freeText, freeTextWithout, unicode]),
    },
  ];
}

// ZITADEL keeps an id only where it stands inside too.
function serviceUser(userId: string) {
  return { userId, user: { userName: userId, name: 'Conformance', userId } };
}

function personOf(userId: string, otpEmail: boolean, unverified: string) {
  return {
    userId,
    ...(otpEmail ? { otpEmail } : {}),
    state: 'USER_STATE_ACTIVE',
    user: {
      userName: userId,
      profile: { firstName: 'Con', lastName: 'Formance', displayName: 'Con Formance', preferredLanguage: 'en' },
      email: { email: 'person@example.com', isEmailVerified: userId !== unverified },
      hashedPassword: { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' },
    },
  };
}
