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

interface Decision {
  readonly fields: RegExp;
  readonly broken: RegExp;
  readonly outcome: Outcome;
  /** Why ZITADEL can or cannot export the value, with the place in its code. */
  readonly because: string;
}

/** The last matching row decides. */
const decisions: readonly Decision[] = [
  {
    fields: /./,
    broken: /^too long$/,
    outcome: 'is kept',
    because: 'no command checks lengths, and imports from a bucket check no rules: api/grpc/admin/import.go',
  },
  {
    fields: /^labelPolicy\.\w+Color(?:Dark)?$/,
    broken: /^too long$/,
    outcome: 'is dropped',
    because: 'POLICY-391dG: domain/policy_label.go',
  },
  {
    fields: /\.language$/,
    broken: /^too long$/,
    outcome: 'fails its record',
    because: 'its command takes supported languages only: domain/custom_message_text.go',
  },
  {
    fields: /./,
    broken: /^empty$/,
    outcome: 'fails its record',
    because:
      'its command requires the value, such as COMMAND-00p2b, PROFILE-RF5z2, COMMAND-bs9Ds, or it is the key of the record',
  },
  {
    fields: /^humanUsers\.user\.phone\.phone$/,
    broken: /^(?:too long|empty|prefix)$/,
    outcome: 'is dropped',
    because: 'stored in E.164: domain/human_phone.go',
  },
  {
    fields: /^machineUsers\.user\.name$/,
    broken: /^empty$/,
    outcome: 'is kept',
    because: 'PATCH /v2/users/{id} of 4.x stores it: command/user_v2_machine.go; seen with 4.x of July 2026',
  },
  {
    fields: /^(?:projectRoles\.displayName|actions\.action\.script)$/,
    broken: /^empty$/,
    outcome: 'is kept',
    because: 'not checked: domain/project_role.go, domain/action.go',
  },
  {
    fields: /^(?:oidcIdps\.idp\.(?:clientId|clientSecret|issuer)|jwtIdps\.idp\.(?:issuer|\w+Endpoint|headerName))$/,
    broken: /^empty$/,
    outcome: 'is kept',
    because: 'not checked: command/org_idp_config.go; a secret that is not found is empty',
  },
  {
    fields: /^humanUsers\.user\.email\.email$/,
    broken: /^no address$/,
    outcome: 'fails its record',
    because: 'EMAIL-599BI: domain/human_email.go',
  },
  {
    fields: /^privacyPolicy\.supportEmail$/,
    broken: /^no address$/,
    outcome: 'is dropped',
    because: 'EMAIL-599BI: domain/policy_privacy.go',
  },
  {
    fields: /\.clockSkew$/,
    broken: /^out of range$/,
    outcome: 'is dropped',
    because: 'OIDCApp.IsValid: domain/application_oidc.go',
  },
  {
    fields: /^actions\.action\.timeout$/,
    broken: /^out of range$/,
    outcome: 'is kept',
    because: 'not checked: command/org_action.go',
  },
  {
    fields: /./,
    broken: /^unknown$/,
    outcome: 'is dropped',
    because: 'releases have more values',
  },
  {
    fields: /^(?:loginPolicy|humanUsers\.user)\.idps\.(?:idpId|configId|externalUserId)$/,
    broken: /^empty$/,
    outcome: 'is dropped',
    because: 'a link that no ZITADEL exports costs neither the policy nor the person',
  },
  {
    fields: /\.ownerType$/,
    broken: /^unspecified$/,
    outcome: 'is dropped',
    because: 'an export derives one of the others: api/grpc/admin/export.go',
  },
];

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
    const decision = decisions.findLast((row) => row.fields.test(title) && row.broken.test(broken));
    expect(outcomeOf(place, value), decision?.because).toBe(decision?.outcome);
  });

  it('fails a person without profile or address', () => {
    for (const lacking of [{ profile: undefined }, { email: undefined }])
      expect(read('humanUsers', person('u', lacking)).invalid).toBeDefined();
  });

  it('has a row for each decision', () => {
    const used = places.map(({ title, broken }) =>
      decisions.findLast((row) => row.fields.test(title) && row.broken.test(broken)),
    );
    expect(decisions.filter((row) => !used.includes(row))).toEqual([]);
  });
});
