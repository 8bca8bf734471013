import { expect, it } from 'vitest';
import { issueText } from '../../../shared/errors/issueText.ts';
import { recordIssues } from '../../../shared/errors/recordIssues.ts';
import { readFileRecord } from '../../../shared/exportFile/fileRecord.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { complexityIssue, defaultComplexity } from '../../../shared/organisation/passwordRules.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { type RecordIssue, reportedIssue } from '../../../shared/organisation/relations.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

/** Returns the parameters of an issue as a response has them, and the text that the command prints. */
function reported(issue: RecordIssue | 'notCarried' | undefined) {
  if (typeof issue !== 'object') throw new Error('there is no issue');
  const { reason, params = {} } = reportedIssue(issue);
  return { reason, params, text: issueText(recordIssues[reason], params, 'command') };
}

function issueOf(section: string, json: object): RecordIssue | 'notCarried' | undefined {
  const { record, issue } = normaliseRecord(readRecord(sectionNamed(section), json, 'acme'));
  return issue ?? record.section.check?.(record.json, '2026-11-01T00:00:00Z');
}

it.each([
  ['Secret1', 'minLength', '8 bytes'],
  ['SECRET1!', 'hasLowercase', 'a letter from a to z'],
  ['secret1!', 'hasUppercase', 'a letter from A to Z'],
  ['Secrets!', 'hasNumber', 'a digit'],
  ['Secrets1', 'hasSymbol', 'another character'],
])('the error of the password %s has the broken rule, and not the password', (password, rule, expected) => {
  const { reason, params, text } = reported(complexityIssue(defaultComplexity, password));
  expect({ reason, params }).toEqual({ reason: 'password_too_simple', params: { rule, expected } });
  expect(text).toContain(`policy: ${rule} requires ${expected}: choose`);
  expect(text).not.toContain(password);
});

it.each([
  ['initMessages', { language: 'zzz', title: 't' }, { language: 'zzz' }],
  [
    'triggerActions',
    { flowType: '9', triggerType: '1', actionIds: ['a'] },
    { field: 'flowType', value: '9', allowed: '1, 2, 3, 4' },
  ],
  [
    'triggerActions',
    { flowType: '2', triggerType: '1', actionIds: ['a'] },
    { field: 'triggerType', value: '1', allowed: '4, 5' },
  ],
  ['triggerActions', { triggerType: '1', actionIds: ['a'] }, { field: 'flowType', value: 'missing' }],
  ['humanUsers', { userId: 'u', user: { userName: 'a\0b' } }, { field: 'user.userName' }],
  ['humanUsers', { userId: 'u', user: { hashedPassword: { value: 'a\0b' } } }, { field: 'user.hashedPassword.value' }],
  ['orgMembers', { userId: 'u', roles: ['ORG_OWNER', 'a\0b'] }, { field: 'roles[1]' }],
  ['orgMembers', { userId: 'u', roles: [] }, { field: '`roles`' }],
  ['domains', { domainName: ' ' }, { field: '`domainName`' }],
  ['humanUsers', { userId: 'u', user: { userName: 'a', email: { email: ' k15@x.ch ' } } }, { address: '" k15@x.ch "' }],
  [
    'oidcApps',
    { appId: 'a', app: { loginVersion: { loginV2: { baseUri: ':x' } } } },
    { field: 'app.loginVersion.loginV2.baseUri' },
  ],
])('the error of a record of %s has the field and its value, as its text does: %j', (section, json, expected) => {
  const { params, text } = reported(issueOf(section, json));
  expect(params).toMatchObject(expected);
  for (const value of Object.values(params)) expect(text).toContain(value);
});

it('the error of an invalid record has the first invalid field, its problem, and the others', () => {
  const text = JSON.stringify({ userId: 'u', user: { userName: 1, profile: { firstName: 2 } } });
  const path = ['orgs', 0, 'humanUsers', 3];
  const { invalid } = readFileRecord(sectionNamed('humanUsers'), { text, path }, { orgId: 'acme', checked: true });
  const found = reported(invalid);
  expect(found).toMatchObject({
    reason: 'value_invalid',
    params: {
      field: 'orgs[0].humanUsers[3].user.userName',
      problem: expect.stringContaining('expected text'),
    },
  });
  expect(found.text).toMatch(/^orgs\[0\]\.humanUsers\[3\]\.user\.userName: expected text.*: correct the value$/);
});
