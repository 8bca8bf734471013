import { ID_MISSING, NAME_MISSING } from '../../functions/import/write/organisations.ts';
import type { JsonObject } from '../../shared/json/jsonObject.ts';
import { normaliseRecord } from '../../shared/organisation/normaliseRecord.ts';
import { complexityIssue, defaultComplexity, passwordIssue } from '../../shared/organisation/passwords.ts';
import { toRecord } from '../../shared/organisation/record.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { defaultPasswordHashing } from '../../shared/passwordHashing.ts';

/** An error, and the condition under which it is reported. */
export type Condition = RecordIssue & { readonly when: string; readonly type?: string };

// Checks are functions, so each of their errors is documented by an example that the check rejects: the id and the key
// come from the check itself.

/** A record that the section's check rejects, and the reason. */
type Example = readonly [when: string, record: JsonObject];

const NOW = '2026-01-01T00:00:00Z';
const ORGANISATION = '1';

const expired: Example = ['`expirationDate` is in the past.', { expirationDate: '2025-01-01T00:00:00Z' }];

const colours = ['primaryColor', 'backgroundColor', 'warnColor', 'fontColor'];
const invalidColours = [...colours, ...colours.map((name) => `${name}Dark`)].map(
  (name): Example => [`\`${name}\` is neither \`#rgb\` nor \`#rrggbb\`.`, { [name]: 'blue' }],
);

function memberExamples(kind: string, otherRole: string): readonly Example[] {
  return [
    ['`roles` is empty.', { roles: [] }],
    [`A role is unknown, or not one of ${kind}.`, { roles: [otherRole] }],
  ];
}

const examples: Readonly<Record<string, readonly Example[]>> = {
  labelPolicy: invalidColours,
  loginPolicy: [
    ['`defaultRedirectUri` is not a URI with a scheme.', { defaultRedirectUri: 'nowhere' }],
    ['An entry of `secondFactors` is unknown or unspecified.', { secondFactors: ['SECOND_FACTOR_TYPE_UNSPECIFIED'] }],
    ['An entry of `multiFactors` is unknown or unspecified.', { multiFactors: ['MULTI_FACTOR_TYPE_UNSPECIFIED'] }],
  ],
  passwordComplexityPolicy: [['`minLength` is absent, 0 or above 72.', {}]],
  humanUsers: [['`user.email.email` is not a plain address of ASCII characters.', { user: { email: { email: '@' } } }]],
  privacyPolicy: [['`supportEmail` is not a plain address of ASCII characters.', { supportEmail: '@' }]],
  triggerActions: [
    ['`flowType` or `triggerType` is unknown.', { flowType: '9', triggerType: '1' }],
    ['`triggerType` does not belong to the flow.', { flowType: '2', triggerType: '1' }],
    ['`actionIds` is empty.', { flowType: '1', triggerType: '1' }],
  ],
  orgMembers: memberExamples('organisations', 'IAM_OWNER'),
  projectMembers: memberExamples('projects', 'ORG_OWNER'),
  projectGrantMembers: memberExamples('project grants', 'PROJECT_OWNER'),
  appKeys: [expired],
  machineKeys: [
    ['`publicKey` is not the base64 of a public key in PEM (SubjectPublicKeyInfo or PKCS #1).', { publicKey: 'AAAA' }],
    expired,
  ],
};

const adjustExamples: Readonly<Record<string, readonly Example[]>> = {
  domains: [
    [
      "`isPrimary` is true, `isVerified` is not, and the organisation's domain policy has `validateOrgDomains`; the record is imported without `isPrimary`.",
      { isPrimary: true },
    ],
  ],
};

const textExamples: readonly Example[] = [
  ['`language` is no known language.', { language: 'xx' }],
  ['`language` is one in which ZITADEL has no texts.', { language: 'tlh' }],
];

/** Records with a value that its rule rejects. */
function valueExamples({ name, collection }: Section): readonly Example[] {
  if (name === 'org') return [['`org.name` is blank.', { org: { name: ' ' } }]];
  if (name === 'domains') return [['`domainName` is blank.', { domainName: ' ' }]];
  if (name === 'oidcApps')
    return [
      ['`app.loginVersion.loginV2.baseUri` is no URI.', { app: { loginVersion: { loginV2: { baseUri: '::a' } } } }],
    ];
  if (name === 'humanUsers')
    return [
      ['`user.userName` is blank.', { user: { userName: ' ' } }],
      ['`user.phone.phone` is not a phone number.', { user: { userName: 'a', phone: { phone: '?' } } }],
    ];
  return collection === 'texts' ? textExamples : [];
}

/** A record and its reference's target, which the reference's check rejects. */
type ReferenceExample = readonly [when: string, record: JsonObject, target: JsonObject];

const usedGrant = { projectGrant: { projectId: '2', grantedOrgId: ORGANISATION } };

const referenceExamples: Readonly<Record<string, readonly ReferenceExample[]>> = {
  userGrants: [
    ['The project grant is of another project, or to another organisation.', { projectId: '3' }, usedGrant],
    ['The project grant does not include a role in `roleKeys`.', { projectId: '2', roleKeys: ['admin'] }, usedGrant],
  ],
  projectGrantMembers: [['The project grant is of another project.', { projectId: '3' }, usedGrant]],
  appKeys: [['The application does not authenticate with keys (`PRIVATE_KEY_JWT`).', {}, { app: {} }]],
};

const weakPasswords: readonly (readonly [when: string, password: string])[] = [
  ['`user.password` is shorter than the policy requires, in bytes.', 'a'],
  ['`user.password` has no letter from a to z.', 'PASSWORD'],
  ['`user.password` has no letter from A to Z.', 'password'],
  ['`user.password` has no digit from 0 to 9.', 'Password'],
  ['`user.password` has only letters and digits of ASCII.', 'Passw0rd'],
];

/** Collects the errors of a section's checks, and of the import's checks outside the table of sections. */
export function checkErrors(section: Section): Condition[] {
  const ownErrors = (examples[section.name] ?? []).map(([when, record]) =>
    condition(when, section.check?.(record, NOW)),
  );
  const referenceErrors = (referenceExamples[section.name] ?? []).map(([when, record, target]) => {
    const check = section.references?.find((reference) => reference.check !== undefined)?.check;
    return condition(when, check?.(target, record, ORGANISATION));
  });
  const valueErrors = valueExamples(section).map(([when, record]) =>
    condition(when, normaliseRecord(toRecord(section, structuredClone(record), ORGANISATION)).issue),
  );
  const adjustErrors = (adjustExamples[section.name] ?? []).map(([when, record]) => {
    const error = section.adjust?.(record, () => true, { validatesDomains: true })?.error;
    return { ...condition(when, error?.issue), ...(error === undefined ? {} : { type: error.type }) };
  });
  return [...adjustErrors, ...ownErrors, ...valueErrors, ...referenceErrors, ...importErrors(section)];
}

function importErrors(section: Section): Condition[] {
  if (section.name === 'org') {
    return [
      { ...ID_MISSING, when: '`orgId` is missing.' },
      { ...NAME_MISSING, when: 'The organisation does not exist, and `org` is missing.' },
    ];
  }
  if (section.name !== 'humanUsers') return [];
  return [
    ...weakPasswords.map(([when, password]) => condition(when, complexityIssue(defaultComplexity, password))),
    condition(
      '`user.password` has more than 72 bytes, and is to be hashed with bcrypt.',
      passwordIssue(defaultComplexity, defaultPasswordHashing, 'Aa1!'.repeat(19)),
    ),
  ];
}

function condition(when: string, issue: RecordIssue | 'notCarried' | undefined): Condition {
  if (typeof issue !== 'object') throw new Error(`the example passes its check: ${when}`);
  return { ...issue, when };
}
