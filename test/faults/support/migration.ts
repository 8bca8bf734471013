import { z } from 'zod';
import { type Organisation, organisation, person, zitadelExport } from '../../support/fixtures/organisations.ts';

/** An export file's organisations. */
export interface Migration {
  readonly orgs: readonly Organisation[];
  readonly orgIds: readonly string[];
}

const list = z.array(z.looseObject({}));

/**
 * A real ZITADEL's export, and two organisations of `people` persons each that grant each other projects: records of
 * every phase, with references across organisations and login names of both scopes.
 */
export function migration(people: number): Migration {
  const orgs = [...zitadelExport('export-full'), large('north', 'south', people), large('south', 'north', people)];
  return { orgs, orgIds: orgs.map(({ orgId }) => orgId) };
}

/** The same file with another value in records of every phase, and the ids of all. */
export function changedMigration({ orgs, orgIds }: Migration): Migration {
  const renamed = (org: Organisation) => ({
    ...org,
    ...changedIn(org, 'humanUsers', (one) => ({ ...one, state: 'USER_STATE_LOCKED' })),
    ...changedIn(org, 'userMetadata', (one) => ({ ...one, value: 'Y2hhbmdlZA==' })),
    ...changedIn(org, 'orgMembers', (one) => ({ ...one, roles: ['ORG_USER_PERMISSION_EDITOR'] })),
  });
  return { orgs: orgs.map(renamed), orgIds };
}

/** The file without every second record of its lists of people. */
export function halfOf({ orgs, orgIds }: Migration): Migration {
  const halved = (org: Organisation) => ({
    ...org,
    ...Object.fromEntries(
      ['userMetadata', 'orgMembers', 'userGrants']
        .filter((name) => org[name] !== undefined)
        .map((name) => [name, list.parse(org[name]).filter((_, index) => index % 2 === 0)]),
    ),
  });
  return { orgs: orgs.map(halved), orgIds };
}

function changedIn(org: Organisation, name: string, change: (record: object) => object): object {
  return org[name] === undefined ? {} : { [name]: list.parse(org[name]).map(change) };
}

function large(orgId: string, other: string, people: number): Organisation {
  const numbers = Array.from({ length: people }, (_, index) => index);
  const user = (number: number) => `${orgId}-user-${number}`;
  const hashed = (number: number) => ({ hashedPassword: { value: `$2a$10$${orgId}${number}` } });
  return organisation(orgId, {
    domainPolicy: { orgId, userLoginMustBeDomain: orgId === 'north' },
    projects: [{ projectId: `${orgId}-project`, project: { name: 'Portal' } }],
    projectGrants: [
      { grantId: `${orgId}-grant`, projectGrant: { projectId: `${orgId}-project`, grantedOrgId: other } },
    ],
    humanUsers: numbers.map((number) => person(user(number), hashed(number))),
    domains: numbers.map((number) => ({ domainName: `d${number}.${orgId}.example`, isVerified: true })),
    userMetadata: numbers.map((number) => ({ id: user(number), key: 'number', value: 'eA==' })),
    orgMembers: numbers.map((number) => ({ userId: user(number), roles: ['ORG_OWNER'] })),
    userGrants: numbers.map((number) => ({
      userId: user(number),
      projectId: `${other}-project`,
      projectGrantId: `${other}-grant`,
    })),
  });
}
