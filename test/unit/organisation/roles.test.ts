import { describe, expect, it } from 'vitest';
import {
  areCompatible,
  grants,
  knownRoles,
  type MembershipScope,
  type Permission,
} from '../../../shared/organisation/roles.ts';
import { zitadelHolders, zitadelRoles } from '../../support/fixtures/zitadelRoles.ts';

const scopes: readonly MembershipScope[] = ['instance', 'organisation', 'project', 'projectGrant'];
const all = scopes.flatMap(knownRoles);
const holders = (permission: Permission) => all.filter((role) => grants([role], permission));

describe('the roles', () => {
  it.each([
    ['instance', zitadelRoles.instance],
    ['organisation', zitadelRoles.organisation],
    ['project', zitadelRoles.project],
    ['projectGrant', ['PROJECT_GRANT_OWNER', 'PROJECT_GRANT_OWNER_VIEWER']],
  ] as const)("of a member of the %s are those of ZITADEL's defaults", (scope, roles) => {
    expect(knownRoles(scope)).toEqual(roles);
  });

  it.each([
    [['ORG_OWNER', 'ORG_OWNER_VIEWER'], true],
    [['SELF_MANAGEMENT_GLOBAL'], true],
    [['ORG_OWNER', 'SELF_MANAGEMENT_GLOBAL'], false],
    [['ORG_OWNER', 'IAM_OWNER'], false],
    [['ORG_OWNER', 'ORG_QUEEN'], false],
    [['ORG_OWNER', 7], false],
  ])('%j of one member of an organisation are compatible: %j', (held, compatible) => {
    expect(areCompatible('organisation', held)).toBe(compatible);
  });
});

describe('the permission to export and import', () => {
  it('is held by the IAM owner alone', () => {
    expect(holders('iam.write')).toEqual(['IAM_OWNER']);
  });

  it.each(['iam_owner', ' IAM_OWNER', 'SYSTEM_OWNER', ''])('is not held by %j', (role) => {
    expect(grants([role], 'iam.write')).toBe(false);
  });
});

describe('the permission to change users', () => {
  it("is held by the roles with it in ZITADEL's defaults", () => {
    expect(holders('user.write')).toEqual(zitadelHolders['user.write']);
  });
});

describe('the permission to read users', () => {
  it("is held by the roles with it on the instance or an organisation in ZITADEL's defaults", () => {
    expect(holders('user.read')).toEqual(zitadelHolders['user.read']);
  });
});

describe('several roles', () => {
  it('grant all permissions of each, and none if there is no role', () => {
    expect(grants(['ORG_OWNER_VIEWER', 'ORG_OWNER'], 'user.write')).toBe(true);
    expect(grants([], 'user.write')).toBe(false);
  });
});

describe('a role', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('named %s grants nothing', (role) => {
    expect(grants([role], 'user.write')).toBe(false);
    expect(areCompatible('organisation', [role])).toBe(false);
  });
});
