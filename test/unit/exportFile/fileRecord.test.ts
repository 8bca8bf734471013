import { describe, expect, it } from 'vitest';
import { readFileRecord } from '../../../shared/exportFile/fileRecord.ts';
import { findSection } from '../../../shared/organisation/allSections.ts';

/** Returns the paths of the fields in the error of a record that cannot be imported. */
function failingFields(name: string, value: object): readonly string[] {
  const section = findSection(name);
  if (section === undefined) throw new Error(`no section ${name}`);
  const item = { text: JSON.stringify(value), path: [name] };
  const { invalid } = readFileRecord(section, item, { orgId: 'O', checked: true });
  const paths = invalid?.key.matchAll(new RegExp(`(?<=\\b${name}\\.)[\\w.]+(?=: )`, 'g')) ?? [];
  return Array.from(paths, ([path]) => path);
}

const names = { firstName: 'A', lastName: 'B' };

/** The section, the record, and the fields that its error lists. */
const errors: Readonly<Record<string, readonly [section: string, record: object, fields: readonly string[]]>> = {
  'lists each empty field, and no part of another type that an import leaves out': [
    'humanUsers',
    {
      userId: 'q',
      user: {
        userName: '',
        profile: { firstName: '', lastName: 'L' },
        email: { email: '', isEmailVerified: 'yes' },
        phone: { phone: 5 },
      },
    },
    ['user.userName', 'user.profile.firstName', 'user.email.email'],
  ],
  'lists a missing field, and no flag that an import leaves out': [
    'oidcApps',
    { appId: 'a', app: { name: 'app', devMode: 1 } },
    ['app.projectId'],
  ],
  'lists an invalid duration, and values of other types': [
    'loginPolicy',
    { forceMfa: 'yes', passwordCheckLifetime: '1h', mfaInitSkipLifetime: 5, defaultRedirectUri: 5 },
    ['passwordCheckLifetime', 'forceMfa', 'mfaInitSkipLifetime'],
  ],
  'lists a value of another type once, although the field is required': [
    'humanUsers',
    { userId: 'q', user: { userName: 5, profile: 'Ada', email: { email: 'a@b.example' } } },
    ['user.userName', 'user.profile'],
  ],
  'lists an invalid state, and no part that an import leaves out': [
    'humanUsers',
    {
      userId: 'q',
      state: 'USER_STATE_X',
      user: { userName: 'q', profile: names, email: { email: 'a@b.example' }, phone: { phone: 5 } },
    },
    ['state'],
  ],
  'does not list invalid elements of a list, which an import leaves out': [
    'oidcApps',
    { appId: 'a', app: { name: 'app', redirectUris: ['https://a.example', 5], grantTypes: [[]] } },
    ['app.projectId'],
  ],
};

describe('the error of a record', () => {
  it.each(Object.entries(errors))('%s', (_, [section, record, fields]) => {
    expect(failingFields(section, record)).toEqual(fields);
  });
});
