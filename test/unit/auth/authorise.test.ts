import { describe, expect, it } from 'vitest';
import { grants, isInstanceRole, knownRoles, parseRoles } from '../../../shared/auth/authorise.ts';

describe('the permission to export and import', () => {
  it('is held by the IAM owner alone', () => {
    expect(knownRoles.filter((role) => grants([role], 'iam.write'))).toEqual(['IAM_OWNER']);
  });

  it.each(['IAM_OWNER_VIEWER', 'ORG_OWNER', 'IAM_LOGIN_CLIENT', 'iam_owner', ' IAM_OWNER', ''])(
    'is not held by %j',
    (role) => {
      expect(grants([role], 'iam.write')).toBe(false);
    },
  );
});

describe('the permission to change users', () => {
  it("is held by the roles that ZITADEL's defaults give it to", () => {
    expect(knownRoles.filter((role) => grants([role], 'user.write'))).toEqual([
      'IAM_OWNER',
      'IAM_ORG_MANAGER',
      'IAM_USER_MANAGER',
      'IAM_LOGIN_CLIENT',
      'ORG_OWNER',
      'ORG_USER_MANAGER',
    ]);
  });

  it.each(['IAM_OWNER_VIEWER', 'ORG_OWNER_VIEWER', 'ORG_USER_PERMISSION_EDITOR', 'PROJECT_OWNER', 'SELF'])(
    'is not held by %s',
    (role) => {
      expect(grants([role], 'user.write')).toBe(false);
    },
  );
});

describe('the permission to read users', () => {
  it("is held by the roles that ZITADEL's defaults give it to", () => {
    expect(knownRoles.filter((role) => grants([role], 'user.read'))).toEqual([
      'IAM_OWNER',
      'IAM_OWNER_VIEWER',
      'IAM_ORG_MANAGER',
      'IAM_USER_MANAGER',
      'IAM_LOGIN_CLIENT',
      'ORG_OWNER',
      'ORG_USER_MANAGER',
      'ORG_OWNER_VIEWER',
      'ORG_USER_PERMISSION_EDITOR',
      'ORG_PROJECT_PERMISSION_EDITOR',
    ]);
  });

  it.each(['ORG_SETTINGS_MANAGER', 'ORG_PROJECT_CREATOR', 'IAM_END_USER_IMPERSONATOR', 'PROJECT_OWNER'])(
    'is not held by %s',
    (role) => {
      expect(grants([role], 'user.read')).toBe(false);
    },
  );
});

describe('roles', () => {
  it('grant what any of them grants, and nothing when there is none', () => {
    expect(grants(['ORG_OWNER_VIEWER', 'ORG_OWNER'], 'user.write')).toBe(true);
    expect(grants([], 'user.write')).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('named %s grant nothing', (role) => {
    expect(grants([role], 'user.write')).toBe(false);
  });

  it('are of the instance when they are called so', () => {
    expect(knownRoles.filter(isInstanceRole)).toEqual(knownRoles.filter((role) => role.startsWith('IAM_')));
  });

  it('are read from a stored membership; none is no role', () => {
    expect(parseRoles(undefined)).toEqual([]);
    expect(parseRoles({ id: 'm' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u"}' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u","roles":["ORG_OWNER"]}' })).toEqual(['ORG_OWNER']);
  });
});
