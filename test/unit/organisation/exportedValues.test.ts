import { type DescField, getOption, hasOption } from '@bufbuild/protobuf';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import { describe, expect, it } from 'vitest';
import { readFileRecord } from '../../../shared/exportFile/fileRecord.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { nestedRecords, type OrganisationRecord } from '../../../shared/organisation/record.ts';
import { person } from '../../support/fixtures/organisations.ts';
import { type FieldPlace, fieldPlaces, withValueAt } from '../../support/strings/fieldPlaces.ts';

/** What an import does with a value that breaks a rule of ZITADEL's definitions. */
type Outcome = 'is kept' | 'is dropped' | 'fails its record';

/** What matches the fields and the broken rules, and the outcome. */
type Decision = readonly [fields: RegExp, broken: RegExp, outcome: Outcome];

/** The decisions, by the reason why ZITADEL can or cannot export the value. The last match decides. */
const decisions: Readonly<Record<string, Decision>> = {
  'no command checks lengths, and imports from a bucket check no rules: api/grpc/admin/import.go': [
    /./,
    /^too long$/,
    'is kept',
  ],
  'POLICY-391dG: domain/policy_label.go': [/^labelPolicy\.\w+Color(?:Dark)?$/, /^too long$/, 'is dropped'],
  'its command takes supported languages only: domain/custom_message_text.go': [
    /\.language$/,
    /^too long$/,
    'fails its record',
  ],
  'its command requires the value, such as COMMAND-00p2b, PROFILE-RF5z2, COMMAND-bs9Ds, or it is the key of the record':
    [/./, /^empty$/, 'fails its record'],
  'stored in E.164: domain/human_phone.go': [
    /^humanUsers\.user\.phone\.phone$/,
    /^(?:too long|empty|prefix)$/,
    'is dropped',
  ],
  'PATCH /v2/users/{id} of 4.x stores it: command/user_v2_machine.go; seen with 4.x of July 2026': [
    /^machineUsers\.user\.name$/,
    /^empty$/,
    'is kept',
  ],
  'not checked: domain/project_role.go, domain/action.go': [
    /^(?:projectRoles\.displayName|actions\.action\.script)$/,
    /^empty$/,
    'is kept',
  ],
  'not checked: command/org_idp_config.go; a secret that is not found is empty': [
    /^(?:oidcIdps\.idp\.(?:clientId|clientSecret|issuer)|jwtIdps\.idp\.(?:issuer|\w+Endpoint|headerName))$/,
    /^empty$/,
    'is kept',
  ],
  'EMAIL-599BI: domain/human_email.go': [/^humanUsers\.user\.email\.email$/, /^no address$/, 'fails its record'],
  'EMAIL-599BI: domain/policy_privacy.go': [/^privacyPolicy\.supportEmail$/, /^no address$/, 'is dropped'],
  'OIDCApp.IsValid: domain/application_oidc.go': [/\.clockSkew$/, /^out of range$/, 'is dropped'],
  'not checked: command/org_action.go': [/^actions\.action\.timeout$/, /^out of range$/, 'is kept'],
  'releases have more values': [/./, /^unknown$/, 'is dropped'],
  'a link that no ZITADEL exports costs neither the policy nor the person': [
    /^(?:loginPolicy|humanUsers\.user)\.idps\.(?:idpId|configId|externalUserId)$/,
    /^empty$/,
    'is dropped',
  ],
  'an export derives one of the others: api/grpc/admin/export.go': [/\.ownerType$/, /^unspecified$/, 'is dropped'],
};

/** Returns the decision about a value that breaks a rule of a field, with its reason. */
function decisionOf(title: string, broken: string) {
  const isMatch = ([, [fields, rules]]: [string, Decision]) => fields.test(title) && rules.test(broken);
  const [because, row] = Object.entries(decisions).findLast(isMatch) ?? [];
  return { because, outcome: row?.[2] };
}

/** Values that break the rule of a field, each by the rule. */
function brokenValues(field: DescField): Readonly<Record<string, unknown>> {
  const { case: kind, value } = getOption(field, rules).type;
  if (kind === 'duration') return { 'out of range': `${Number(value.lte?.seconds ?? 0) + 1}s` };
  if (kind === 'enum')
    return { unknown: 'NONE_OF_ALL', ...(value.notIn.includes(0) ? { unspecified: field.enum?.values[0]?.name } : {}) };
  if (kind === 'bytes') {
    const most = Buffer.alloc(Number(value.maxLen) + 1).toString('base64');
    return { 'too long': most, empty: '' };
  }
  if (kind !== 'string') return {};
  const most = Number(value.maxLen) || Number(value.maxBytes);
  const isEmail = value.wellKnown.case === 'email';
  if (field.jsonName === 'preferredLanguage') return { 'too long': 'ca-valencia' };
  const long = isEmail ? `${'x'.repeat(most)}@x.example` : `${value.prefix}${'1'.repeat(most)}x`;
  return {
    ...(most > 0 ? { 'too long': long } : {}),
    ...(Number(value.minLen) > 0 ? { empty: '' } : {}),
    ...(value.prefix ? { prefix: '1' } : {}),
    ...(isEmail ? { 'no address': 'none' } : {}),
  };
}

function read(section: string, json: unknown): OrganisationRecord {
  const item = { text: JSON.stringify(json), path: ['orgs', 0, section, 0] };
  return readFileRecord(recordSection(section), item, { orgId: 'O', checked: true });
}

function outcomeOf(place: FieldPlace, value: unknown): Outcome {
  const isInLink = place.title.startsWith('humanUsers.user.idps.');
  const link = { configId: 'c', externalUserId: 'e', [String(place.steps.at(-1))]: value };
  const whole = isInLink ? { ...place, steps: place.steps.slice(0, -1) } : place;
  const organisation = withValueAt(whole, isInLink ? link : value);
  const isWhole = place.section === 'org';
  const [json] = isWhole
    ? [{ org: organisation.org, orgId: organisation.orgId }]
    : [organisation[place.section]].flat();
  const given = read(place.section, json);
  if (given.leftOut !== undefined) return 'is dropped';
  const { record, issue = given.invalid } = normaliseRecord(given);
  if (issue !== undefined) return 'fails its record';
  const links = nestedRecords(given, []).map((link) => link.record.json);
  const stored = JSON.stringify([record.json, record.credentials, links]);
  return stored.includes(JSON.stringify(value)) || value === '' ? 'is kept' : 'is dropped';
}

/** Fields that repeat an id of the record or of its organisation. That id decides. */
const repeated = ['machineUsers.user.userId', 'domainPolicy.orgId'];

const places = fieldPlaces.flatMap((place) => {
  const { field, section, title } = place;
  if (field === undefined || !hasOption(field, rules) || !recordSections.some(({ name }) => name === section))
    return [];
  if (repeated.includes(title)) return [];
  return Object.entries(brokenValues(field)).map(([broken, value]) => ({ title, broken, place, value }));
});

describe('a value that breaks a rule of ZITADEL', () => {
  it.each(places)('in $title ($broken) has the decided outcome', ({ title, broken, place, value }) => {
    const { because, outcome } = decisionOf(title, broken);
    expect(outcomeOf(place, value), because).toBe(outcome);
  });

  it('fails a person without profile or address', () => {
    for (const lacking of [{ profile: undefined }, { email: undefined }])
      expect(read('humanUsers', person('u', lacking)).invalid).toBeDefined();
  });

  it('has a row for each decision', () => {
    const used = places.map(({ title, broken }) => decisionOf(title, broken).because);
    expect(Object.keys(decisions).filter((because) => !used.includes(because))).toEqual([]);
  });
});
