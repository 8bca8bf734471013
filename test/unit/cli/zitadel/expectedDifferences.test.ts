import { describe, expect, it } from 'vitest';
import { explainZitadels } from '../../../../cli/comparison/compareSides.ts';
import { anyZitadel, ImportFacts } from '../../../../cli/records/importFacts.ts';
import type { FirstRecord, RecordDifference } from '../../../../cli/records/runDatabase.ts';
import { zitadelReason } from '../../../../cli/zitadel/expectedDifferences.ts';
import { TemporaryDatabase } from '../../../../shared/collections/temporaryDatabase.ts';
import { defined } from '../../../../shared/defined.ts';
import { findSection } from '../../../../shared/organisation/allSections.ts';
import type { FieldDifference } from '../../../../shared/organisation/equality.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { allReleases } from '../../../../shared/organisation/zitadelReleases.ts';

const zitadel = {
  side: 'second',
  releases: allReleases,
  domains: ['id.example.com'],
  imports: new ImportFacts(new TemporaryDatabase(''), anyZitadel),
} as const;
const record = (section: string, id: string, outcome: RecordDifference['outcome']): RecordDifference => ({
  outcome,
  section,
  orgId: 'acme',
  id,
});
const changed = (section: string, ...fields: readonly FieldDifference[]): RecordDifference => ({
  ...record(section, '1', 'different'),
  fields,
});
function section(name: string) {
  const found = findSection(name);
  if (found === undefined) throw new Error(`there is no section ${name}`);
  return found;
}

const explain = (difference: RecordDifference) => zitadelReason(difference, zitadel);

describe('a difference between a ZITADEL and another side', () => {
  it.each([
    changed('loginPolicy', { path: 'allowDomainDiscovery', first: true }),
    changed('humanUsers', { path: 'user.passwordChangeRequired', first: true }),
    changed('humanUsers', { path: 'otpEmail', first: true, second: false }),
    changed(
      'humanUsers',
      { path: 'state', first: 'USER_STATE_ACTIVE', second: 'USER_STATE_INITIAL' },
      { path: 'user.email.isEmailVerified', first: true },
    ),
    changed('domains', { path: 'isVerified', first: undefined, second: true }),
    changed('loginTexts', { path: 'linkingUserPromptText', first: { title: 'Link' } }),
    record('domains', 'acme_acme.id.example.com', 'onlySecond'),
    record('verifyPhoneMessages', 'acme_en', 'onlyFirst'),
    record('passwordlessRegistrationMessages', 'acme_en', 'onlySecond'),
  ])('is explained if the ZITADEL causes it: %j', (difference) => {
    expect(explain(difference)).toMatch(/ZITADEL/);
  });

  it.each([
    changed('humanUsers', { path: 'user.userName', first: 'ada', second: 'bob' }),
    // One unexpected difference makes the whole record unexpected.
    changed('loginPolicy', { path: 'allowDomainDiscovery', first: true }, { path: 'forceMfa', first: true }),
    changed('loginPolicy', { path: 'allowDomainDiscovery', second: true }),
    changed('humanUsers', { path: 'state', first: 'USER_STATE_ACTIVE', second: 'USER_STATE_LOCKED' }),
    changed('humanUsers', { path: 'user.hashedPassword.value', secret: 'different' }),
    record('domains', 'acme_acme.example.com', 'onlySecond'),
    record('domains', 'acme_acme.id.example.com', 'onlyFirst'),
    record('orgMembers', 'acme_7', 'onlySecond'),
    record('humanUsers', 'ada', 'onlyFirst'),
  ])('is not attributed to the ZITADEL otherwise: %j', (difference) => {
    expect(explain(difference)).toBeUndefined();
  });

  it('is explained by a value that the file could not contain, for that record and rule only', () => {
    using database = new TemporaryDatabase('');
    const imports = new ImportFacts(database, anyZitadel);
    const role = (roleKey: string) => readRecord(section('projectRoles'), { projectId: 'p', roleKey }, 'acme');
    const provider = (idpId: string, secret: object) =>
      readRecord(section('oidcIdps'), { idpId, idp: { name: idpId, ...secret } }, 'acme');
    const [taken, refused] = [provider('51', { clientSecret: 's' }), provider('52', {})];
    const [lower, upper, repeated, ofTaken, ofRefused] = [
      role('admin'),
      role('ADMIN'),
      role('admin'),
      taken,
      refused,
    ].map((one) => imports.note(one));
    const reason = (difference: RecordDifference, json: object, loss?: string) => {
      const first: FirstRecord = { body: JSON.stringify(json), secrets: {}, ...defined({ loss }) };
      return zitadelReason(difference, { ...zitadel, imports }, first);
    };
    const idps = (...ids: readonly string[]) => ids.map((idpId) => ({ idpId }));
    const policy = (first: readonly string[], second: readonly string[], ...fields: readonly FieldDifference[]) =>
      changed('loginPolicy', { path: 'idps', first: idps(...first), second: idps(...second) }, ...fields);
    expect(reason(policy(['51', 'x'], ['51']), {})).toMatch(
      / identity providers? that the export does not contain|does not contain its identity provider/,
    );
    expect(reason(policy(['51', 'x'], []), {})).toBeUndefined();
    expect(reason(policy(['x'], [], { path: 'forceMfa', first: true }), {})).toBeUndefined();
    const link = record('userLinks', '1_x', 'onlyFirst');
    expect(reason(link, { idpId: 'x' })).toMatch(
      / identity providers? that the export does not contain|does not contain its identity provider/,
    );
    expect(reason(link, { idpId: '51' })).toBeUndefined();
    expect(reason({ ...link, orgId: 'emca' }, { idpId: '51' })).toMatch(
      / identity providers? that the export does not contain|does not contain its identity provider/,
    );
    expect(reason(record('projectRoles', 'p_ADMIN', 'onlyFirst'), {}, upper)).toMatch(/by case/);
    for (const loss of [lower, repeated])
      expect(reason(record('projectRoles', 'p_admin', 'onlyFirst'), {}, loss)).toBeUndefined();
    expect(reason(record('oidcIdps', '52', 'onlyFirst'), {}, ofRefused)).toMatch(/client secret/);
    expect(reason(record('oidcIdps', '51', 'onlyFirst'), {}, ofTaken)).toBeUndefined();
  });

  it('of a state is explained if the record is closed on both sides', () => {
    const states = (first: string, second: string) => changed('humanUsers', { path: 'state', first, second });
    const user = (state: string) => `USER_STATE_${state}`;
    expect(zitadelReason(states(user('SUSPEND'), user('INACTIVE')), zitadel)).toMatch(
      /^the user has another state in ZITADEL that also prevents logins/,
    );
    expect(zitadelReason(states(user('INACTIVE'), user('LOCKED')), zitadel)).toMatch(
      /^the user has another state in ZITADEL that also prevents logins/,
    );
    for (const open of ['ACTIVE', 'INITIAL']) {
      expect(zitadelReason(states(user('LOCKED'), user(open)), zitadel)).toBeUndefined();
      expect(zitadelReason(states(user(open), user('LOCKED')), zitadel)).toBeUndefined();
    }
    const org = changed('org', { path: 'orgState', first: 'ORG_STATE_INACTIVE', second: 'ORG_STATE_ACTIVE' });
    expect(zitadelReason(org, zitadel)).toBeUndefined();
    const project = changed('projects', { path: 'state', first: 'PROJECT_STATE_INACTIVE' });
    expect(zitadelReason(project, zitadel)).toBeUndefined();
  });

  it('is explained by the second of two ZITADELs, which has imported the record', () => {
    const facts = { service: 'zitadel', domains: [], denied: [], exportLosses: [] } as const;
    const unknown = { version: undefined, instance: undefined, defaultOrgId: undefined };
    const both = [
      { ...facts, ...unknown },
      { ...facts, ...unknown },
    ] as const;
    const state = { path: 'state', first: 'USER_STATE_ACTIVE', second: 'USER_STATE_INITIAL' };
    expect(explainZitadels(both, zitadel.imports)(changed('humanUsers', state))).toBe(
      'ZITADEL gives people without a password hash, or with an unverified e-mail address, the state INITIAL',
    );
  });

  it('is described from the side of the ZITADEL', () => {
    const first = { ...zitadel, side: 'first' } as const;
    const lost = changed('loginPolicy', { path: 'allowDomainDiscovery', second: true });
    expect(zitadelReason(lost, first)).toBe('no export of ZITADEL contains this field');
    expect(zitadelReason(record('domains', 'acme_acme.id.example.com', 'onlyFirst'), first)).toMatch(/adds a domain/);
  });
});
