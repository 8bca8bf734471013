import { describe, expect, it } from 'vitest';
import { isJsonObject, putAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { InvalidRecordError } from '../../../shared/organisation/message.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { canonicalise, readRecord, storedFields } from '../../../shared/organisation/record.ts';
import { inWrittenOrder } from '../../../shared/organisation/recordBody.ts';
import { recordSchema } from '../../../shared/organisation/recordSchema.ts';
import { everySection, recordsOf } from '../../support/fixtures/everySection.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';
import { fieldPlaces, withValueAt } from '../../support/strings/fieldPlaces.ts';

const read = (section: string, value: unknown, orgId = 'org-1') =>
  readRecord(sectionNamed(section), structuredClone(value), orgId);

const person = {
  userId: 'auth0|abc',
  user: {
    userName: 'alice',
    profile: { firstName: 'Alice', lastName: 'Ångström', preferredLanguage: 'de', gender: 'GENDER_FEMALE' },
    email: { email: 'alice@example.com', isEmailVerified: true },
    phone: { phone: '+41791234567', isPhoneVerified: true },
    hashedPassword: { value: '$2a$10$hash', algorithm: 'bcrypt' },
    otpCode: 'JBSWY3DPEHPK3PXP',
  },
  state: 'USER_STATE_LOCKED',
};

const personInSnakeCase = {
  state: 4,
  user: {
    otp_code: 'JBSWY3DPEHPK3PXP',
    hashed_password: { value: '$2a$10$hash' },
    phone: { is_phone_verified: true, phone: '+41791234567' },
    email: { is_email_verified: true, email: 'alice@example.com' },
    profile: { gender: 1, preferred_language: 'de', last_name: 'Ångström', first_name: 'Alice', nick_name: '' },
    user_name: 'alice',
    request_passwordless_registration: false,
    unknown: { deep: [1] },
  },
  user_id: 'auth0|abc',
};

describe('a record', () => {
  it('has the same canonical form and digest in both spellings, in any order of its fields, with defaults or without', () => {
    const one = read('humanUsers', person);
    const other = read('humanUsers', personInSnakeCase);
    expect(other.body).toBe(one.body);
    expect(other.digest).toBe(one.digest);
    expect(other.credentials).toEqual(one.credentials);
  });

  it('is read unchanged from its own canonical form', () => {
    const record = read('humanUsers', person);
    expect(read('humanUsers', JSON.parse(record.body)).body).toBe(record.body);
  });

  it.each(sections)('keeps each field and its place in its canonical form: $name', (section) => {
    const records = recordsOf(everySection('acme', ['other']), section);
    expect(records.length).toBeGreaterThan(0);
    for (const complete of records) {
      for (const absent of [undefined, ...Object.keys(complete).filter((name) => name !== section.inner)]) {
        const { [absent ?? '']: _, ...fields } = complete;
        for (const path of ['costCentre', ...(section.inner === undefined ? [] : [`${section.inner}.costCentre`])])
          putAt(fields, path, 'cc');
        const json = structuredClone(fields);
        canonicalise(section, json, 'acme');
        expect(json).toMatchObject(fields);
        const inOrder = inWrittenOrder(recordSchema(section), json);
        canonicalise(section, inOrder, 'acme');
        expect(JSON.stringify(inOrder)).toBe(JSON.stringify(json));
      }
    }
  });

  it('has another digest when a single value is changed', () => {
    const changed = { ...person, user: { ...person.user, userName: 'Alice' } };
    expect(read('humanUsers', changed).digest).not.toBe(read('humanUsers', person).digest);
  });

  it.each([
    ['an object that converts to no text', { toString: 'a', valueOf: 'b' }],
    ['a deep list', JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
    ['an object', {}],
    ['a list', ['a']],
    ['a text', 'a'],
    ['a number', 1.5],
    ['a truth value', true],
    ['null', null],
  ])('is either read or rejected if any of its fields has %s', (_what, value: unknown) => {
    const places = fieldPlaces.filter(({ section }) => sections.some(({ name }) => name === section));
    expect(places.length).toBeGreaterThan(200);
    for (const place of places) {
      const [record] = [withValueAt(place, value)[place.section]].flat();
      try {
        normaliseRecord(readRecord(sectionNamed(place.section), record, 'org-1'));
      } catch (error) {
        expect(error, place.title).toBeInstanceOf(InvalidRecordError);
      }
    }
  });

  it('has a digest of 256 bits in base64url', () => {
    expect(read('humanUsers', person).digest).toMatch(/^[\w-]{43}$/);
  });

  it.each(['humanUsers', 'machineUsers', 'projects', 'oidcApps', 'apiApps', 'actions', 'projectGrants', 'oidcIdps'])(
    'of %s is rejected without the object inside it',
    (section) => {
      expect(() => read(section, {})).toThrow(/^\w+: missing$/);
      expect(() => read(section, { [sectionNamed(section).inner ?? '']: null })).toThrow(/missing/);
    },
  );

  it('writes bytes in standard base64 and long numbers as strings, in whatever form they arrive', () => {
    expect(read('userMetadata', { id: 'u', key: 'k', value: '_-8' }).json.value).toBe('/+8=');
    expect(read('passwordComplexityPolicy', { minLength: 10 }).json).toEqual({ minLength: '10' });
    expect(read('passwordComplexityPolicy', { minLength: '10' }).json).toEqual({ minLength: '10' });
  });

  it('may have an unknown value of an enum, which is treated as absent', () => {
    expect(read('humanUsers', { ...person, state: 'USER_STATE_OF_TOMORROW' }).state?.value).toBe('USER_STATE_ACTIVE');
  });
});

describe('the credentials of a record', () => {
  it('are removed from it, and neither its text nor its digest contains them', () => {
    const { body, digest, credentials } = read('humanUsers', person);
    expect(credentials).toEqual({ passwordHash: '$2a$10$hash', totpSeed: 'JBSWY3DPEHPK3PXP' });
    expect(body).not.toContain('$2a$10$hash');
    expect(body).not.toContain('JBSWY3DPEHPK3PXP');
    const without = { ...person, user: { ...person.user, hashedPassword: undefined, otpCode: undefined } };
    expect(read('humanUsers', JSON.parse(JSON.stringify(without))).digest).toBe(digest);
  });

  it('can be put back into their fields', () => {
    const { body, credentials, section } = read('humanUsers', person);
    const json: unknown = JSON.parse(body);
    if (!isJsonObject(json)) throw new Error('the body is no object');
    for (const { path, field } of section.credentials ?? []) putAt(json, path, credentials[field]);
    const again = read('humanUsers', json);
    expect({ body: again.body, credentials: again.credentials }).toEqual({ body, credentials });
    expect(json.user).toMatchObject({ hashedPassword: { value: '$2a$10$hash' }, otpCode: 'JBSWY3DPEHPK3PXP' });
  });

  it('of an identity provider are removed too', () => {
    const { body, credentials } = read('oidcIdps', { idpId: 'i', idp: { name: 'n', clientSecret: 'google-secret' } });
    expect(credentials).toEqual({ clientSecret: 'google-secret' });
    expect(body).not.toContain('google-secret');
  });

  it('that are empty count as absent', () => {
    const { credentials, body } = read('humanUsers', {
      userId: 'u',
      user: { userName: 'a', hashedPassword: { value: '' }, otpCode: '' },
    });
    expect(credentials).toEqual({});
    expect(JSON.parse(body)).toEqual({ userId: 'u', user: { userName: 'a' }, state: 'USER_STATE_INITIAL' });
  });

  it('include a clear password, which is returned to be hashed and is not part of the record', () => {
    const record = read('humanUsers', { userId: 'u', user: { userName: 'a', password: 'Secret1!' } });
    expect(record.clearPassword).toBe('Secret1!');
    expect(record.body).not.toContain('Secret1!');
    expect(JSON.stringify(storedFields(record))).not.toContain('Secret1!');
  });

  it('in the form of a hash take precedence over a clear password', () => {
    const user = { userName: 'a', password: 'Secret1!', hashedPassword: { value: '$2a$10$hash' } };
    const record = read('humanUsers', { userId: 'u', user });
    expect(record.clearPassword).toBeUndefined();
    expect(record.givenPassword).toBe('Secret1!');
    expect(record.credentials.passwordHash).toBe('$2a$10$hash');
    expect(record.body).not.toContain('Secret1!');
  });
});

describe('the factor OTP e-mail', () => {
  it.each([
    [{ otpEmail: true }, true],
    [{ otp_email: true }, true],
    [{ otpEmail: false }, false],
    [{ otpEmail: null }, undefined],
    [{}, undefined],
  ])('of %j beside the user is %j, and not part of the digest', (fields, expected) => {
    const record = read('humanUsers', { ...person, ...fields });
    expect(record.otpEmail).toBe(expected);
    expect(record.digest).toBe(read('humanUsers', person).digest);
  });

  it.each([1, 'true', {}, []])('is rejected as %j', (otpEmail) => {
    expect(() => read('humanUsers', { ...person, otpEmail })).toThrow('otpEmail: expected true or false');
  });

  it('is rejected in both spellings at once', () => {
    expect(() => read('humanUsers', { ...person, otpEmail: true, otp_email: true })).toThrow(/^otpEmail: /);
  });
});

describe('a state', () => {
  it('of a deleted record is rejected', () => {
    const deleted = { ...person, state: 'USER_STATE_DELETED' };
    expect(() => readRecord(sectionNamed('humanUsers'), deleted, 'org-1', true)).toThrow(
      'state: USER_STATE_DELETED is the state of a deleted record',
    );
  });

  it('that means unspecified counts as absent in each section', () => {
    const project = { projectId: 'p', project: { name: 'P' } };
    const { body, state } = read('projects', { ...project, state: 'PROJECT_STATE_UNSPECIFIED' });
    expect({ body, state }).toEqual({ body: read('projects', project).body, state: read('projects', project).state });
    expect(() => read('projects', { ...project, state: 'APP_STATE_UNSPECIFIED' })).toThrow(/unknown state/);
  });
});

describe('an omitted value', () => {
  it('has a default: the state of a person, a service user and an organisation', () => {
    expect(read('humanUsers', { ...person, state: null }).json.state).toBe('USER_STATE_ACTIVE');
    expect(read('machineUsers', { userId: 'u', user: { userName: 'a' } }).json.state).toBe('USER_STATE_ACTIVE');
    expect(read('humanUsers', { userId: 'u', user: { userName: 'a' }, state: 'USER_STATE_UNSPECIFIED' }).json).toEqual(
      read('humanUsers', { userId: 'u', user: { userName: 'a' } }).json,
    );
  });

  it.each([
    ['whose e-mail address is verified', { email: { email: 'a@b.c', isEmailVerified: true } }, 'USER_STATE_ACTIVE'],
    ['whose e-mail address is not verified', { email: { email: 'a@b.c' } }, 'USER_STATE_INITIAL'],
    ['the same with a password', { email: {}, hashedPassword: { value: 'x' } }, 'USER_STATE_INITIAL'],
    ['the same with an identity provider', { email: {}, idps: [{ configId: 'i' }] }, 'USER_STATE_ACTIVE'],
  ])('is the state of a person %s, as set by ZITADEL', (_who, user, state) => {
    expect(read('humanUsers', { userId: 'u', user: { userName: 'a', ...user } }).state?.value).toBe(state);
  });

  it('is the organisation of a domain and of the domain policy, taken from the surrounding organisation', () => {
    for (const orgId of [undefined, 'another', 'org-1']) {
      expect(read('domains', { ...(orgId ? { orgId } : {}), domainName: 'a.example' }).json).toEqual({
        orgId: 'org-1',
        domainName: 'a.example',
      });
      expect(read('domainPolicy', { ...(orgId ? { orgId } : {}), userLoginMustBeDomain: true }).json).toEqual({
        orgId: 'org-1',
        userLoginMustBeDomain: true,
      });
    }
  });

  it('is the id of a user: the same each time for the same organisation and name, and for no other', () => {
    const idOf = (userName: string, orgId: string) => read('humanUsers', { user: { userName } }, orgId).json.userId;
    expect(idOf('alice', 'org-1')).toMatch(/^\d{18}$/);
    expect(idOf('alice', 'org-1')).toBe(idOf('alice', 'org-1'));
    const others = [idOf('alice', 'org-2'), idOf('bob', 'org-1'), idOf('', 'org-1alice'), idOf('1alice', 'org-')];
    expect(new Set([idOf('alice', 'org-1'), ...others]).size).toBe(5);
  });
});

describe('the id of a service user', () => {
  it.each([
    ['of the record', { userId: 'outer', user: { userName: 'robot' } }],
    ['inside the record, if the record itself has none', { user: { userId: 'outer', userName: 'robot' } }],
    ['of the record, if both exist', { userId: 'outer', user: { userId: 'inner', userName: 'robot' } }],
  ])('is the id %s', (_which, value) => {
    expect(read('machineUsers', value).json).toEqual({
      userId: 'outer',
      user: { userName: 'robot', userId: 'outer' },
      state: 'USER_STATE_ACTIVE',
    });
  });
});

describe('a trigger action', () => {
  const expected = { flowType: '1', triggerType: '2', actionIds: ['a'] };

  it.each([
    ["a v2 document's numbers as text", { flowType: '1', triggerType: '2', actionIds: ['a'] }],
    ["a v1 document's numbers", { flow_type: 1, trigger_type: 2, action_ids: ['a'] }],
    [
      "a v1 document's names",
      { flowType: 'FLOW_TYPE_EXTERNAL_AUTHENTICATION', triggerType: 'TRIGGER_TYPE_PRE_CREATION', actionIds: ['a'] },
    ],
  ])('is the same from %s', (_form, value) => {
    expect(normaliseRecord(read('triggerActions', value)).record.json).toEqual(expected);
  });

  it.each(['3', '4', 'function', 'constructor', 'toString', '__proto__'])('keeps an unknown flow: %s', (id) => {
    expect(read('triggerActions', { flowType: id, triggerType: id, actionIds: ['a'] }).json).toEqual({
      flowType: id,
      triggerType: id,
      actionIds: ['a'],
    });
  });
});
