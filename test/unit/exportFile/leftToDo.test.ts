import { describe, expect, it } from 'vitest';
import { LeftToDo, MAX_LISTED_BYTES } from '../../../shared/exportFile/leftToDo.ts';
import { type FileContent, leftToDoRules } from '../../../shared/exportFile/leftToDoRules.ts';
import { MAX_MANIFEST_BYTES } from '../../../shared/exportFile/manifest.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import type { ReleaseRange } from '../../../shared/organisation/zitadelReleases.ts';
import type { StoredDocument } from '../../../shared/store/store.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const everything = { withPasswords: true, withOtp: true, withKeys: true, forZitadel: false };
const forZitadel = { ...everything, forZitadel: true };
const BCRYPT = '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi';

function record(json: object, fields: object = {}): StoredDocument {
  return { id: 'd', orgId: 'O', body: JSON.stringify(json), ...fields };
}

function person(fields: object, isEmailVerified = true): StoredDocument {
  const state = 'USER_STATE_ACTIVE';
  return record({ userId: 'U', user: { email: { isEmailVerified } } }, { state, passwordHash: BCRYPT, ...fields });
}

/** The entries about single records and organisations from one record of a section. */
function entriesFor(content: FileContent, section: string, document: StoredDocument): string[] {
  const list = new LeftToDo(content, 'http');
  list.addRecord(sectionNamed(section), document);
  return list.entries.flatMap(({ type, id, message }) => (id === undefined ? [] : [`${type} ${id}: ${message}`]));
}

describe('the remaining steps after a migration', () => {
  it('do not contain an unverified domain of an organisation whose policy validates domains', () => {
    const list = new LeftToDo(forZitadel, 'http');
    list.addRecord(sectionNamed('domainPolicy'), record({ validateOrgDomains: true }));
    for (const orgId of ['O', 'P']) list.addRecord(sectionNamed('domains'), { ...record({ domainName: 'd' }), orgId });
    expect(list.entries.filter(({ message }) => message.includes('unverified domain'))).toMatchObject([{ id: 'P_d' }]);
  });

  it('contain one general step for states if the command does not send the file, and some record is not active', () => {
    const entries = (inSteps: boolean, ...states: readonly string[]) => {
      const list = new LeftToDo({ ...forZitadel, inSteps }, 'http');
      for (const state of states) list.addRecord(sectionNamed('machineUsers'), record({ userId: state }, { state }));
      return list.entries.filter(({ message }) => message.includes('imports no states'));
    };
    expect(entries(false, 'USER_STATE_INACTIVE', 'USER_STATE_LOCKED')).toHaveLength(1);
    expect(entries(false, 'USER_STATE_ACTIVE')).toEqual([]);
    expect(entries(true, 'USER_STATE_INACTIVE')).toEqual([]);
  });

  it('include an export with the secrets, or what to do if the call has selected them and the source has none', () => {
    const content = { ...everything, withPasswords: false };
    const list = new LeftToDo(content, 'http');
    list.addRecord(sectionNamed('humanUsers'), person({ passwordHash: undefined }));
    const entryFor = (isSelected: boolean) => {
      const asked = { withPasswords: isSelected, withOtp: true, withKeys: true };
      return list
        .countedEntriesFor({ ...content, asked })
        .find(({ message }) => message.includes('no password hashes'));
    };
    const message = 'the export has no password hashes: people without a password hash must set new passwords';
    expect(entryFor(false)).toMatchObject({
      reason: 'passwords_missing',
      message: expect.stringContaining('include these secrets (`with_passwords`)'),
    });
    expect(entryFor(true)).toEqual({ type: 'human_user', reason: 'passwords_not_in_source', message });
  });

  it('refer only to sections of the table', () => {
    const names = recordSections.map(({ name }) => name);
    for (const rule of leftToDoRules) for (const name of rule.sections) expect(names).toContain(name);
  });

  it.each([
    ['no hash', 'humanUsers', person({ passwordHash: undefined }), /^human_user U: .*without/],
    ['an unverified address', 'humanUsers', person({}, false), /^human_user U: .*unverified.* accepts the password/],
    [
      'an initial person',
      'humanUsers',
      person({ state: 'USER_STATE_INITIAL' }),
      /^human_user U: ZITADEL activates a person/,
    ],
    ['a suspended person', 'humanUsers', person({ state: 'USER_STATE_SUSPEND' }), /^human_user U: .*state/],
    [
      'a hash of an optional verifier',
      'humanUsers',
      person({ passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.' }),
      /^human_user U: .* SystemDefaults\.PasswordHasher\.Verifiers contains the verifier of the hash: add phpass$/,
    ],
    [
      'a hash without a verifier',
      'humanUsers',
      person({ passwordHash: '$argon2id$' }),
      /^human_user U: no release of ZITADEL verifies this password hash, /,
    ],
    [
      'a hash beyond the bounds',
      'humanUsers',
      person({ passwordHash: '$2b$05$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy' }),
      /^human_user U: from June 2026 on, ZITADEL refuses the person, because the cost of the password hash is outside its limits/,
    ],
    ['the OTP e-mail factor', 'humanUsers', person({ otpEmail: true }), /^human_user U: .*factor/],
    ['how verified', 'domains', record({ domainName: 'a', isVerified: true, validationType: 'DNS' }), /^domain O_a: /],
    ['an idle project', 'projects', record({ projectId: 'P' }, { state: 'PROJECT_STATE_INACTIVE' }), /^project P: /],
    [
      'an idle grant',
      'userGrants',
      record({ userId: 'U', projectId: 'P' }, { state: 'A_INACTIVE' }),
      /^user_grant O_P_U: /,
    ],
    ['an unverified domain', 'domains', record({ domainName: 'd' }), /^domain O_d: /],
    ['a message text', 'initMessages', record({ language: 'de' }), /^init_message O: .*x-zitadel-orgid/],
    ['a dropped text', 'verifyPhoneMessages', record({ language: 'de' }), /^verify_phone_message O: .*enter/],
    ['a provider without secret', 'oidcIdps', record({ idpId: 'I' }), /^oidc_idp I: .*rejects/],
  ])('contain for a ZITADEL: %s', (_what, section, document, expected) => {
    const found = entriesFor(forZitadel, section, document);
    expect(found).toEqual([expect.stringMatching(expected)]);
    expect(entriesFor(everything, section, document)).toHaveLength(section === 'oidcIdps' ? 1 : 0);
  });

  it.each<readonly [string, ReleaseRange, string]>([
    [
      '2',
      { until: '2' },
      'this release of ZITADEL cannot verify this password hash: the person must set a new password',
    ],
    ['3', { since: '3', until: '3' }, 'contains the verifier of the hash: add phpass'],
    ['2 or 3', { until: '3' }, 'contains the verifier of the hash: add phpass'],
  ])('recommend only a verifier that release %s has', (_, releases, expected) => {
    const phpass = person({ passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.' });
    const found = entriesFor({ ...forZitadel, releases }, 'humanUsers', phpass);
    expect(found).toEqual([expect.stringContaining(expected)]);
  });

  it.each([
    ['humanUsers', person({})],
    ['humanUsers', person({ state: 'USER_STATE_LOCKED' })],
    ['humanUsers', person({ state: 'USER_STATE_INITIAL', passwordHash: undefined }, false)],
    ['machineUsers', record({ userId: 'M' }, { state: 'USER_STATE_INACTIVE' })],
    ['projects', record({ projectId: 'P' })],
    ['domains', record({ domainName: 'd', isVerified: true })],
    ['oidcIdps', record({ idpId: 'I' }, { clientSecret: 's' })],
    ['loginTexts', record({ language: 'de' })],
  ])('do not contain a record that arrives unchanged: %s', (section, document) => {
    expect(entriesFor(forZitadel, section, document)).toEqual([]);
  });

  it('contain a step once if it is about all records, or about all of an organisation', () => {
    const list = new LeftToDo({ ...forZitadel, withPasswords: false }, 'http');
    for (const orgId of ['O1', 'O2']) {
      for (const language of ['de', 'en'])
        list.addRecord(sectionNamed('initMessages'), { ...record({ language }), orgId });
      for (const state of ['USER_STATE_ACTIVE', 'USER_STATE_LOCKED'])
        list.addRecord(sectionNamed('humanUsers'), { ...person({ state, passwordHash: undefined }), orgId });
    }
    const messages = list.entries.map(({ message }) => message);
    expect(messages.filter((message) => message.includes('without a password hash'))).toHaveLength(1);
    expect(list.entries.flatMap(({ id }) => id ?? [])).toEqual(['O1', 'O2']);
  });

  it('have the parameters of their texts, which a program can use, in the form of their reader', () => {
    const person = (list: LeftToDo) => {
      const phpass = { passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.' };
      const user = { email: { isEmailVerified: true }, state: 'USER_STATE_ACTIVE' };
      list.addRecord(sectionNamed('humanUsers'), record({ userId: 'U', user }, phpass));
      list.addMissingProviders(sectionNamed('userLinks'), record({ userId: 'U', idpId: 'I' }), ['I', 'J']);
      return list.entries.map(({ reason, params, message }) => ({ reason, params, message }));
    };
    const withoutOtp = { ...everything, withOtp: false };
    const ours = person(new LeftToDo(withoutOtp, 'http'));
    expect(ours).toContainEqual({
      reason: 'providers_missing',
      params: { providers: 'I, J' },
      message:
        'the export does not contain all identity providers to which this record refers: import I, J with these ids',
    });
    const otp = (entries: typeof ours) => entries.find(({ reason }) => reason === 'otp_missing')?.message;
    expect(otp(ours)).toContain('include these secrets (`with_otp`) and overwrite existing people (`on_conflict`)');
    expect(otp(person(new LeftToDo(withoutOtp, 'command')))).toContain(
      'include these secrets (--with otp) and overwrite existing people (--on-conflict overwrite)',
    );
    const zitadel = person(new LeftToDo(forZitadel, 'http'));
    expect(zitadel).toContainEqual(
      expect.objectContaining({ reason: 'hash_refused_without_verifier', params: { verifier: 'phpass' } }),
    );
    const policy = new LeftToDo(forZitadel, 'http');
    policy.addMissingProviders(sectionNamed('loginPolicy'), record({}), ['I', 'J']);
    expect(policy.entries[0]?.message).toMatch(
      /: create I, J in the target, and add these providers to the login policy$/,
    );
    expect(zitadel).toContainEqual(expect.objectContaining({ reason: 'link_rejected', params: { providers: 'I, J' } }));
  });

  it('list the first hundred records of each kind, and count the others', () => {
    const list = new LeftToDo(forZitadel, 'http');
    for (let number = 0; number < 1_000; number++) {
      list.addRecord(sectionNamed('domains'), record({ domainName: `d${number}` }));
      list.addMissingProviders(sectionNamed('userLinks'), record({ userId: 'U', idpId: `I${number}` }), [`I${number}`]);
    }
    expect(list.entries).toHaveLength(200);
    expect(list.entries.at(-1)).toMatchObject({ type: 'user_link', id: 'U_I99' });
    expect(list.omitted).toBe(1_800);
    const counted = list.countedEntriesFor(forZitadel).filter(({ further }) => further !== undefined);
    expect(counted).toMatchObject([{ type: 'domain', further: 900 }]);
  });

  it('list fewer records if their ids are long, and shorten these', () => {
    const list = new LeftToDo(forZitadel, 'http');
    const providers = Array.from({ length: 5_000 }, (_, index) => String(index).padStart(200, '\u0001'));
    for (let number = 0; number < 50; number++)
      list.addMissingProviders(sectionNamed('userLinks'), record({ userId: '\u0001'.repeat(2_600) }), providers);
    expect(list.entries.length).toBeGreaterThan(0);
    expect(list.entries[0]?.id).toBe(`${'\u0001'.repeat(1_000)}...`);
    expect(Buffer.byteLength(JSON.stringify(list.entries))).toBeLessThan(MAX_LISTED_BYTES + 2);
    expect(list.entries.length + list.omitted).toBe(50);
  });

  it('have room for the records of every rule in a manifest', () => {
    const [missingProviders, others] = [3, 2];
    const rules = leftToDoRules.filter(({ scope }) => scope !== 'file').length + missingProviders + others;
    expect(rules * MAX_LISTED_BYTES).toBeLessThanOrEqual(0.8 * MAX_MANIFEST_BYTES);
    // An entry has at most an id, a message and a parameter of 1,000 characters, each of which may take six bytes.
    expect(MAX_LISTED_BYTES).toBeGreaterThan(3 * 6_000);
  });

  it('count an organisation once, however many are listed', () => {
    const list = new LeftToDo(forZitadel, 'http');
    for (let number = 0; number < 200; number++)
      for (const language of ['de', 'en'])
        list.addRecord(sectionNamed('initMessages'), { ...record({ language }), orgId: `O${number}` });
    expect(list.omitted).toBe(100);
  });
});
