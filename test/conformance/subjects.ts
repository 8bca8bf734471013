import { randomUUID } from 'node:crypto';

/** The people, service users and organisations that the rows are about. */
export type Subjects = Ids & {
  /** What has to be imported. */
  readonly organisations: readonly object[];
  /** Those who must have the factor. */
  readonly withFactors: readonly string[];
};

type Ids = ReturnType<typeof newIds>;

// Those whose tokens are needed have the same ids in every run, so that tokens can be made once; all others are new each time.
/** The users of whom `--tokens-file` can hold tokens, by their role in the table. */
export const callers = {
  orgOwner: 'conformance-org-owner',
  viewer: 'conformance-viewer',
  nobody: 'conformance-nobody',
  person: 'conformance-person',
  inactive: 'conformance-inactive',
  expired: 'conformance-org-owner',
} as const;

const HOME = 'conformance-home';

/** Makes the subjects of one run of the table. */
export function newSubjects(): Subjects {
  const ids = newIds();
  return { ...ids, organisations: organisations(ids), withFactors: withFactors(ids) };
}

function newIds() {
  const run = randomUUID();
  const id = (name: string) => `${name.replaceAll(/\W/g, '-')}-${run}`;
  return {
    /** Makes an id that no other run has. */
    id,
    home: HOME,
    other: id('other'),
    /** People of the home organisation: `with…` have the factor. */
    withFactor: id('with-factor'),
    withFactorToo: id('with-factor-too'),
    kept: id('kept'),
    withoutFactor: id('without-factor'),
    unverified: id('unverified'),
    /** People of the other organisation. */
    foreign: id('foreign'),
    freeText: `auth0|${id('with')}`,
    freeTextWithout: `auth0|${id('without')}`,
    unicode: `é/${id('日本')}`,
  };
}

function withFactors({ withFactor, withFactorToo, kept, foreign, freeText, unicode }: Ids) {
  return [callers.person, withFactor, withFactorToo, kept, foreign, freeText, unicode];
}

function organisations(subjects: Ids) {
  const { home, other, withoutFactor, unverified, freeTextWithout, foreign, freeText, unicode } = subjects;
  const factor = new Set(withFactors(subjects));
  const homePeople = [callers.orgOwner, callers.viewer, callers.person, callers.inactive, withoutFactor, unverified];
  const peopleOf = (ids: readonly string[]) => ids.map((userId) => person(userId, factor.has(userId), unverified));
  return [
    {
      orgId: home,
      org: { name: 'Conformance' },
      humanUsers: peopleOf([...homePeople, subjects.withFactor, subjects.withFactorToo, subjects.kept]),
      machineUsers: [
        { userId: callers.nobody, user: { userName: callers.nobody, name: 'Nobody', userId: callers.nobody } },
      ],
      orgMembers: [
        { userId: callers.orgOwner, roles: ['ORG_OWNER'] },
        { userId: callers.viewer, roles: ['ORG_OWNER_VIEWER'] },
      ],
    },
    {
      orgId: other,
      org: { name: `Conformance ${other}` },
      humanUsers: peopleOf([foreign, freeText, freeTextWithout, unicode]),
    },
  ];
}

function person(userId: string, otpEmail: boolean, unverified: string) {
  return {
    userId,
    ...(otpEmail ? { otpEmail } : {}),
    state: userId === callers.inactive ? 'USER_STATE_INACTIVE' : 'USER_STATE_ACTIVE',
    user: {
      userName: userId,
      profile: { firstName: 'Con', lastName: 'Formance', displayName: 'Con Formance', preferredLanguage: 'en' },
      email: { email: 'person@example.com', isEmailVerified: userId !== unverified },
      hashedPassword: { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' },
    },
  };
}
