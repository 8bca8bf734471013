import { describe, expect, it } from 'vitest';
import { createServiceUser, deleteServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const TAKEN = 'ID=V3-DKcYh Message=Errors.User.AlreadyExists';

/** Names of two people who look the same. */
const pairs = [
  ['composed and decomposed', 'jos\u00e9', 'jose\u0301'],
  ['with spaces around', 'jose', ' jose\u00a0'],
  ['with a zero-width space', 'jose', 'jo\u200bse'],
  ['in full-width letters', 'jose', 'ｊｏｓｅ'],
  ['with a sharp s', 'STRASSE', 'straße'],
  ['with a final sigma', 'ΟΔΟΣ', 'οδοσ'],
  ['with a byte order mark', '\ufeffjose', 'jose'],
  ['with a control character', 'jo\u0007se', 'jose'],
  ['with a tag character, which takes two UTF-16 units', 'jose', 'jose\u{e0041}'],
] as const;

async function open() {
  const store = await openTestStore(sqlite);
  const instance = await testInstance(store);
  const send = async (orgs: readonly object[], more: object = {}) => {
    const { errors = [] } = await instance.import({ data_orgs: { orgs }, ...more });
    return errors;
  };
  const people = (orgId: string, users: Readonly<Record<string, string>>) =>
    organisation(orgId, {
      humanUsers: Object.entries(users).map(([userId, userName]) => person(userId, { userName })),
    });
  return { store, instance, send, people };
}

describe('login names that look alike', () => {
  it.each(pairs)(
    '%s: the second is reported, in one file, in two, and in another organisation',
    async (_what, one, two) => {
      const { store, send, people } = await open();
      const error = { type: 'human_user', id: 'B', message: TAKEN };
      expect(await send([people('O', { A: one, B: two })])).toEqual([error]);
      expect(await send([people('O', { B: two })])).toEqual([error]);
      expect(await send([people('P', { B: two })])).toEqual([error]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    },
  );

  it('are free in organisations whose login names carry their domains', async () => {
    const { send, people } = await open();
    const byDomain = (orgId: string) => ({ domainPolicy: { orgId, userLoginMustBeDomain: true } });
    const orgs = [
      { ...people('O', { A: 'jos\u00e9' }), ...byDomain('O') },
      { ...people('P', { B: 'jose\u0301' }), ...byDomain('P') },
    ];
    expect(await send(orgs)).toEqual([]);
    expect((await send([people('O', { C: 'jose\u0301' })])).map(({ message }) => message)).toEqual([TAKEN]);
  });

  it('are one name for service users, whom the command creates and deletes', async () => {
    const { store, send, people } = await open();
    const userId = await createServiceUser(store, 'ｒｏｂｏｔ', undefined, new Date());
    await expect(createServiceUser(store, 'robot', undefined, new Date())).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
    expect((await send([people('O', { A: 'Robot' })])).map(({ message }) => message)).toEqual([TAKEN]);
    await deleteServiceUser(store, userId);
    expect(await send([people('O', { A: 'Robot' })])).toEqual([]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('are stored and exported unchanged, and one may replace the other in the same record', async () => {
    const { store, instance, send, people } = await open();
    await send([people('O', { A: 'jos\u00e9', B: 'ｂｅｒｔ' })]);
    const names = async () => {
      const { orgs } = await instance.export({ org_ids: ['O'] });
      return JSON.stringify(orgs).match(/"userName":"[^"]*"/g);
    };
    expect(await names()).toEqual(['"userName":"jos\u00e9"', '"userName":"ｂｅｒｔ"']);
    expect(await send([people('O', { A: 'jose\u0301', B: 'bert' })], { on_conflict: 'overwrite' })).toEqual([]);
    expect(await names()).toEqual(['"userName":"jose\u0301"', '"userName":"bert"']);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('are rejected with a domain that looks like that of another organisation', async () => {
    const { send, people } = await open();
    await send([organisation('O', { domains: [{ domainName: 'm\u00fcller.example', isVerified: true }] })]);
    const reserved = 'ID=COMMAND-SFd21 Message=Errors.User.DomainNotAllowedAsUsername';
    const names = {
      A: 'a@mu\u0308ller.example',
      B: 'b＠müller.example',
      C: 'c@müller.example\u200b',
      D: 'd@muller.example',
    };
    expect(await send([people('P', names)])).toEqual(
      ['A', 'B', 'C'].map((id) => ({ type: 'human_user', id, message: reserved })),
    );
  });
});

describe('names that look alike', () => {
  it('are one name for organisations and for verified domains', async () => {
    const { store, send } = await open();
    const domains = (domainName: string) => ({ domains: [{ domainName, isVerified: true }] });
    await send([{ ...organisation('O', domains('m\u00fcller.example')), org: { name: 'M\u00fcller' } }]);
    expect(await send([{ ...organisation('P'), org: { name: 'Mu\u0308ller' } }])).toEqual([
      { type: 'org', id: 'P', message: 'ID=V3-DKcYh Message=Errors.Org.AlreadyExists' },
    ]);
    const [error] = await send([organisation('Q', domains('mu\u0308ller.example'))]);
    expect(error?.message).toBe('ID=V3-DKcYh Message=Errors.Org.Domain.AlreadyExists');
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('are different names for projects, applications, roles and links, as in ZITADEL', async () => {
    const { store, send } = await open();
    const both = ['jos\u00e9', 'jose\u0301'];
    const orgs = [
      organisation('O', {
        humanUsers: [person('A')],
        projects: both.map((name, index) => ({ projectId: `P${index}`, project: { name } })),
        projectRoles: both.map((roleKey) => ({ projectId: 'P0', roleKey, displayName: 'Role' })),
        apiApps: both.map((name, index) => ({
          appId: `A${index}`,
          app: { projectId: 'P0', name, authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' },
        })),
      }),
    ];
    expect(await send(orgs)).toEqual([]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});

describe('a login name with an unusual character', () => {
  it.each([
    ['a control character', 'jo\u0001se'],
    ['a line break', 'jo\nse'],
    ['the delete character', 'jo\u007fse'],
    ['a control character of Latin-1', 'jo\u0085se'],
    ['a byte order mark', '\ufeffjose\ufeff'],
    ['a noncharacter', 'jo\uffffse'],
    ['a private character', 'jo\ue000se'],
    ['an unassigned character', 'jo\u{e0fff}se'],
    ['invisible characters alone', '\u200b\u2060'],
  ])('is imported and exported exactly: %s', async (_what, userName) => {
    const { store, instance, send, people } = await open();
    expect(await send([people('O', { A: userName })])).toEqual([]);
    const { orgs } = await instance.export({ org_ids: ['O'] });
    expect(orgs).toMatchObject([{ humanUsers: [{ user: { userName } }] }]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('is an error of the record if the character is NUL, as in ZITADEL', async () => {
    const { send, people } = await open();
    const message = 'ERROR: unsupported Unicode escape sequence (SQLSTATE 22P05)';
    expect(await send([people('O', { A: 'jo\u0000se' })])).toEqual([{ type: 'human_user', id: 'A', message }]);
  });

  it.each(['\\ud800', '\\udc00', 'a\\udc00\\ud800'])(
    'is a reason to reject the request if the character is a lone surrogate: %s',
    async (surrogate) => {
      const { instance, people } = await open();
      const body = JSON.stringify({ data_orgs: { orgs: [people('O', { A: 'NAME' })] } }).replace('NAME', surrogate);
      const { status, text } = await instance.attempt('import', body);
      expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('surrogate') });
    },
  );
});
