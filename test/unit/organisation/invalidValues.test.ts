import { describe, expect, it } from 'vitest';
import { findSection } from '../../../shared/organisation/allSections.ts';
import { InvalidRecordError } from '../../../shared/organisation/message.ts';
import { readRecord } from '../../../shared/organisation/record.ts';

/** Returns the issues of a record that cannot be read. */
function issuesOf(name: string, value: object): readonly string[] {
  const section = findSection(name);
  if (section === undefined) throw new Error(`no section ${name}`);
  try {
    readRecord(section, structuredClone(value), 'O', true);
  } catch (error) {
    if (error instanceof InvalidRecordError) return error.issues.map(({ path, reason }) => `${path}: ${reason}`);
    throw error;
  }
  return [];
}

const user = { userName: 'u', profile: { firstName: 'A', lastName: 'B' }, email: { email: 'a@b.example' } };

describe('a value of the wrong type', () => {
  it.each<[string, object, string]>([
    ['userMetadata', { id: 'u', key: 'k', value: 5 }, 'value: expected base64, such as "dGV4dA=="'],
    ['userMetadata', { id: 'u', key: 7, value: 'eA==' }, 'key: expected text, such as "text"'],
    [
      'humanUsers',
      { userId: 'u', user: { ...user, email: { email: 'a@b.example', is_email_verified: 'yes' } } },
      'user.email.isEmailVerified: expected true or false',
    ],
    ['humanUsers', { userId: 'u', user: { ...user, profile: 'Ada' } }, 'user.profile: expected an object'],
    [
      'humanUsers',
      { userId: 'u', user: { ...user, idps: [{ configId: 'c', externalUserId: 5 }] } },
      'user.idps[0].externalUserId: expected text, such as "text"',
    ],
    ['humanUsers', { userId: 'u', user: { ...user, idps: {} } }, 'user.idps: expected a list'],
    ['orgMembers', { userId: 'u', roles: ['ORG_OWNER', null] }, 'roles[1]: expected text, such as "text"'],
    ['loginPolicy', { secondFactors: [{}] }, 'secondFactors[0]: expected a name, such as '],
    [
      'passwordComplexityPolicy',
      { minLength: -1 },
      'minLength: expected a whole number from 0 to 18446744073709551615, such as 5',
    ],
    ['passwordComplexityPolicy', { minLength: '08' }, 'minLength: expected a whole number from 0 to '],
    [
      'lockoutPolicy',
      { maxPasswordAttempts: '0x10' },
      'maxPasswordAttempts: expected a whole number from 0 to 4294967295, such as 5',
    ],
    [
      'loginPolicy',
      { passwordCheckLifetime: 5 },
      'passwordCheckLifetime: expected a duration in seconds, such as "20s"',
    ],
    ['machineKeys', { keyId: 'k', expirationDate: 'soon' }, 'expirationDate: expected a time, such as '],
    ['orgMembers', { userId: 'u', user_id: 'u', roles: ['ORG_OWNER'] }, 'userId: duplicate field "user_id"'],
  ])('in %s is named with its path and an example: %j', (section, value, expected) => {
    const [issue, ...more] = issuesOf(section, value);
    expect({ issue, more }).toEqual({ issue: expect.stringContaining(expected), more: [] });
    expect(issue?.startsWith(expected)).toBe(true);
  });
});
