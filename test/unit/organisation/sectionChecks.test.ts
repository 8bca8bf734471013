import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const NOW = '2026-11-21T00:00:00.000Z';

function check(section: string, record: JsonObject) {
  const issue = sectionNamed(section).check?.(record, NOW);
  return typeof issue === 'object' ? `${issue.id} ${issue.key}` : issue;
}

const trigger = (flowType: unknown, triggerType: unknown, actionIds: unknown = ['a']): JsonObject => ({
  flowType,
  triggerType,
  actionIds,
});
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
const key = (text: string, expirationDate?: string): JsonObject => ({
  publicKey: Buffer.from(text).toString('base64'),
  expirationDate,
});
const address = (email: string): JsonObject => ({ user: { email: { email } } });
const secondFactors = ['SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_OTP_EMAIL'];

const valid: Readonly<Record<string, readonly JsonObject[]>> = {
  triggerActions: [trigger('1', '3'), trigger('2', '4'), trigger('3', '1'), trigger('4', '6')],
  machineKeys: [key(pem), {}],
  appKeys: [undefined, NOW, '2026-11-21T00:00:01Z', '9999-12-31T23:59:59Z'].map((expirationDate) => ({
    expirationDate,
  })),
  orgMembers: [{ roles: ['ORG_OWNER', 'ORG_OWNER_VIEWER'] }, { roles: ['SELF_MANAGEMENT_GLOBAL'] }],
  projectMembers: [{ roles: ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER_GLOBAL'] }, { roles: ['PROJECT_GRANT_OWNER'] }],
  projectGrantMembers: [{ roles: ['PROJECT_GRANT_OWNER_VIEWER'] }],
  labelPolicy: [{ primaryColor: '#0aF', warnColorDark: '#00aaFF', fontColor: '' }, {}],
  loginPolicy: [
    ...[undefined, 'https://example.com', 'http://localhost:8080/x?y#z', 'com.example.app://callback', 'app:done'].map(
      (defaultRedirectUri) => ({ defaultRedirectUri }),
    ),
    { secondFactors, multiFactors: ['MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION'] },
  ],
  humanUsers: [
    ...['a@b', 'a+b@x.example', "o'brien_1@xn--bcher-kva.example", 'first.last+tag@sub.example.com'].map(address),
    ...['"a b"@x.example', 'a@[192.0.2.1]'].map(address),
  ],
};

const invalid: readonly (readonly [section: string, issue: string, ...records: JsonObject[]])[] = [
  ['triggerActions', 'COMMAND-Dfhj5 Errors.Flow.FlowTypeMissing', trigger(undefined, '1'), trigger('9', '1')],
  [
    'triggerActions',
    'COMMAND-Dfgh6 Errors.Flow.WrongTriggerType',
    ...[trigger('1', undefined), trigger('1', '01'), trigger('1', '4'), trigger('2', '1')],
  ],
  ['triggerActions', 'COMMAND-Nfh52 Errors.Flow.NoChanges', { flowType: '1', triggerType: '1' }],
  ['machineKeys', 'COMMAND-5F3h1 Errors.User.Machine.Key.Invalid', key('none'), key(pem.slice(0, 80))],
  ['machineKeys', 'DOMAIN-dv3t5 Errors.AuthNKey.ExpireBeforeNow', key(pem, '2026-11-20T23:59:59Z')],
  ['appKeys', 'DOMAIN-dv3t5 Errors.AuthNKey.ExpireBeforeNow', { expirationDate: '2020-01-01T00:00:00Z' }],
  ['orgMembers', 'ORG-4Mlfs Errors.Invalid.Argument', {}],
  [
    'orgMembers',
    'Org-4N8es Errors.Org.MemberInvalid',
    { roles: ['ORG_OWNER', 'IAM_OWNER'] },
    { roles: ['ORG_OWNER', 'SELF_MANAGEMENT_GLOBAL'] },
    { roles: ['ORG_NONSENSE'] },
    { roles: [''] },
  ],
  ['projectMembers', 'PROJECT-W8m4l Errors.Project.Member.Invalid', { roles: [] }],
  ['projectMembers', 'PROJECT-3m9ds Errors.Project.Member.Invalid', { roles: ['ORG_OWNER'] }],
  ['projectGrantMembers', 'PROJECT-8fi7G Errors.Project.Grant.Member.Invalid', { roles: [] }],
  ['projectGrantMembers', 'PROJECT-m9gKK Errors.Project.Grant.Member.Invalid', { roles: ['PROJECT_OWNER'] }],
  [
    'humanUsers',
    'EMAIL-599BI Errors.User.Email.Invalid',
    ...['a\u00a0b@example.com', 'a@b\u00fc_.example', 'a b@example.com'].map(address),
    ...['a@b@c', '', '<a@x.example>', ' a@x.example'].map(address),
  ],
];

const rejected = invalid.map(([section, issue, ...records]) => ({ section, issue, records }));

describe("a section's check", () => {
  it.each(Object.entries(valid))('accepts records of %s', (section, records) => {
    for (const record of records) expect(check(section, record), JSON.stringify(record)).toBeUndefined();
  });

  it.each(rejected)('rejects records of $section with $issue', ({ section, issue, records }) => {
    for (const record of records) expect(check(section, record), JSON.stringify(record)).toBe(issue);
  });
});
