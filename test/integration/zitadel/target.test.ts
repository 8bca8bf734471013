import { describe, expect, it } from 'vitest';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import { valueAt } from '../../../shared/json/jsonObject.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { foundError, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { importsOf, startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

/** Imports organisations, and expects no error. */
async function imported(...[zitadel, content]: Parameters<typeof importIntoStandIn>) {
  const { errors, summary } = await importIntoStandIn(zitadel, content);
  expect(errors).toBeUndefined();
  return summary;
}

/** Returns a person without the TOTP seed. */
function without(person: ReturnType<typeof people>[number] | undefined) {
  return { ...person, user: { ...person?.user, otpCode: undefined } };
}

const ACTIVE = { state: 'USER_STATE_ACTIVE' };
const imports = (zitadel: ZitadelStandIn) => importsOf(zitadel).filter(({ orgId }) => orgId === undefined);
const sectionOf = (zitadel: ZitadelStandIn, section: string) =>
  zitadel.contents.organisations.get('1')?.sections.get(section);
const seedOf = ({ contents }: ZitadelStandIn, userId = '') =>
  valueAt(contents.find('1', 'humanUsers', userId) ?? {}, 'user.otpCode');
const ofSecrets = (warnings: readonly { readonly type: string }[]) =>
  warnings.filter(({ type }) => ['secrets', 'not_compared'].includes(type));

describe('an import into a ZITADEL', () => {
  it('fills requests up to 4,000,000 bytes of protobuf', async () => {
    const zitadel = await startZitadel();
    const actions = Array.from({ length: 150 }, (_, index) => ({
      actionId: `7${index}`,
      action: { name: `a${index}`, script: 'x'.repeat(39_000), timeout: '10s' },
    }));
    await imported(zitadel, [organisation('1', { actions })]);
    const sizes = imports(zitadel).flatMap(({ bytes = 0, records = 0 }) => (records > 0 ? [bytes] : []));
    expect(sizes).toHaveLength(2);
    for (const bytes of sizes) expect(bytes).toBeLessThanOrEqual(4_000_000);
    expect(sizes[0]).toBeGreaterThan(3_950_000);
  });

  it('explains that an old release refuses an e-mail address with letters outside ASCII', async () => {
    const zitadel = await startZitadel({ release: '2.71' });
    const [given] = people(1);
    const zoe = { ...given, user: { ...given?.user, email: { email: 'zoë@customer.example', isEmailVerified: true } } };
    const file = [organisation('1', { humanUsers: [zoe] })];
    const { errors } = await importIntoStandIn(zitadel, file);
    expect(errors).toMatchObject([{ type: 'human_user', id: zoe.userId, ...because('email_refused', {}) }]);
  });

  it.each([true, false])(
    'warns of privileges in organisations and projects that existed before, in a dry run: %s',
    async (dryRun) => {
      const zitadel = await startZitadel();
      const [owner, other] = people(2, 1);
      const project = { projectId: '5', project: { name: 'Shop' } };
      await imported(zitadel, [organisation('1', { humanUsers: [owner], projects: [project] })]);
      const members = (projectId: string, userId?: string) => ({
        orgMembers: [{ userId, roles: ['ORG_OWNER'] }],
        projectMembers: [{ userId, projectId, roles: ['PROJECT_OWNER'] }],
      });
      const added = { domains: [{ domainName: 'shop.example', isVerified: true }] };
      const file = [
        organisation('1', { humanUsers: [owner], projects: [project], ...members('5', owner?.userId), ...added }),
        organisation('2', {
          humanUsers: [other],
          projects: [{ projectId: '6', project: { name: 'Shop' } }],
          ...members('6', other?.userId),
        }),
      ];
      const { warnings = [] } = (await importIntoStandIn(zitadel, file, { dryRun })).summary;
      const id = owner?.userId ?? '';
      const given = warnings.filter(({ type }) => ['privilege', 'domain'].includes(type));
      const ofOwner = (roles: string, target: string) => warn('privilege_added', { user: id, roles, target });
      expect(given).toEqual([
        { type: 'privilege', id: `1_${id}`, ...ofOwner('ORG_OWNER', 'organisation 1') },
        { type: 'privilege', id: `1_5_${id}`, ...ofOwner('PROJECT_OWNER', 'project 5') },
        {
          type: 'domain',
          id: '1_shop.example',
          ...warn('domain_added', { domain: 'shop.example', target: 'organisation 1' }),
        },
      ]);
    },
  );

  it.each([true, false])(
    'warns of organisations that depend on the default of the source, unless the ZITADEL has it: %s',
    async (loginNamesByDomain) => {
      const zitadel = await startZitadel({ loginNamesByDomain });
      const store = await openTestStore();
      const owner = await initialise(store, { name: 'source', loginNamesByDomain: true }, 60_000, new Date());
      const source = servedInstance(store, owner);
      await source.import({ data_orgs: { orgs: [organisation('1', { humanUsers: [person('anna')] })] } });
      const content = JSON.stringify(await source.export());
      const { warnings } = (await importIntoStandIn(zitadel, content)).summary;
      expect(warnings.some(({ reason }) => reason === 'login_names_differ')).toBe(!loginNamesByDomain);
    },
  );

  it('writes texts of messages in the context of their organisation, as soon as the ZITADEL shows it', async () => {
    const isAsked = () => waits().some(({ status }) => status === 403);
    const zitadel: ZitadelStandIn = await startZitadel({ now: () => (isAsked() ? Infinity : 0) });
    const waits = () => zitadel.requests.filter(({ path }) => path.endsWith('/GetMyOrg'));
    const texts = (title: string) => ({ initMessages: [{ language: 'en', title }] });
    await imported(zitadel, [organisation('1', texts('One')), organisation('2', texts('Two'))]);
    const titles = ['1', '2'].map((id) => zitadel.contents.find(id, 'initMessages', 'en')?.title);
    expect(titles).toEqual(['One', 'Two']);
    expect(isAsked()).toBe(true);
  });

  it('halves requests that end at their deadline, and does not report what they had written', async () => {
    const zitadel = await startZitadel({ recordsPerSecond: 2 });
    const { created, unchanged } = await imported(zitadel, [organisation('1', { humanUsers: people(400) })]);
    expect({ created, unchanged }).toEqual({ created: { org: 1, humanUsers: 400 }, unchanged: {} });
    expect(sectionOf(zitadel, 'humanUsers')?.size).toBe(400);
    const statuses = imports(zitadel).map(({ status }) => status);
    expect(statuses).toContain(500);
    // Later requests begin with the smaller size.
    expect(statuses.lastIndexOf(500)).toBeLessThan(statuses.length - 1);
  });

  it('fails if a single record does not meet the deadline', async () => {
    const zitadel = await startZitadel({ recordsPerSecond: 0 });
    const running = importIntoStandIn(zitadel, [organisation('1', { humanUsers: people(2) })]);
    await expect(running).rejects.toThrow('the import of a single record, org 1, takes more than 55 s');
  });

  it('counts as unchanged what the ZITADEL had not shown yet when the import began', async () => {
    const zitadel = await startZitadel({ lagMs: 1_900 });
    const domains = [{ domainName: 'a.example', isVerified: true }];
    const content = [organisation('1', { humanUsers: people(2), domains })];
    await imported(zitadel, content);
    const { created, unchanged, skipped, failed } = await imported(zitadel, content);
    expect({ created, unchanged, skipped, failed }).toEqual({
      created: {},
      unchanged: { org: 1, domains: 1, humanUsers: 2 },
      skipped: undefined,
      failed: {},
    });
  });

  it('sends a TOTP seed that did not arrive with its person, and does not count a person without the seed as unchanged', async () => {
    // The process dies when the organisation and the person are written, before the seed.
    const zitadel = await startZitadel({ lagMs: 0, diesAtWrite: 3, deadMs: undefined });
    const content = [organisation('1', { humanUsers: people(2) })];
    await expect(importIntoStandIn(zitadel, content)).rejects.toThrow('cannot be reached');
    zitadel.revive();
    const seed = () => seedOf(zitadel, people(1)[0]?.userId);
    expect(seed()).toBeUndefined();
    const notCompared = (people: string) => ({ type: 'not_compared', ...warn('secrets_not_compared', { people }) });
    const tried = (await importIntoStandIn(zitadel, content, { dryRun: true })).summary;
    expect(tried).toMatchObject({ created: { humanUsers: 1 }, unchanged: { org: 1 }, overwritten: { humanUsers: 1 } });
    const { created, unchanged, overwritten, warnings } = await imported(zitadel, content);
    expect({ created, unchanged, overwritten }).toEqual({
      created: { humanUsers: 1 },
      unchanged: { org: 1 },
      overwritten: { humanUsers: 1 },
    });
    const sent = warn('seeds_sent', { people: '1 person', outcome: 'was sent' });
    expect(ofSecrets(warnings)).toEqual([{ type: 'secrets', ...sent }, notCompared('1 person')]);
    expect(seed()).toBe('JBSWY3DPEHPK3PXP');
    const again = await imported(zitadel, content);
    expect(again).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 2 } });
    expect(ofSecrets(again.warnings)).toEqual([notCompared('2 people')]);
    expect(again.overwritten).toBeUndefined();
  });

  it('sends a hash that a ZITADEL verifies only if its configuration enables it, and warns of the person', async () => {
    const zitadel = await startZitadel();
    const [ada, bob] = people(2);
    const value = '$argon2id$v=19$m=65536,t=1,p=4$c2FsdHNhbHRzYWx0$Ai0pmtUIJ0aPLrQ0NYSyYIxYFMlaYaNyeGs3fpd3zOk';
    const argon = { ...ada, user: { ...ada?.user, hashedPassword: { value } } };
    const { warnings } = await imported(zitadel, [organisation('1', { humanUsers: [argon, bob] })]);
    const message = expect.stringMatching(
      /^ZITADEL verifies this password hash, and from June 2026 on imports the person, only if/,
    );
    const ofHashes = warnings.filter(({ id }) => id !== undefined);
    expect(ofHashes).toEqual([
      {
        type: 'human_user',
        id: ada?.userId,
        reason: 'hash_refused_without_verifier',
        params: { verifier: 'argon2' },
        message,
      },
    ]);
    const stored = zitadel.contents.find('1', 'humanUsers', ada?.userId ?? '') ?? {};
    expect(valueAt(stored, 'user.hashedPassword.value')).toBe(value);
  });

  it.each(['report', 'skip'] as const)(
    'sends no seed to a person who exists with other content, by %s',
    async (onConflict) => {
      const zitadel = await startZitadel({ lagMs: 0 });
      const [ada] = people(1);
      await imported(zitadel, [organisation('1', { humanUsers: [without(ada)] })]);
      const renamed = { ...ada, user: { ...ada?.user, userName: 'another' } };
      const content = [organisation('1', { humanUsers: [renamed] })];
      const { errors, summary } = await importIntoStandIn(zitadel, content, { onConflict });
      const ofSeed = foundError('human_user_otp', ada?.userId, because('seed_of_different_person', {}));
      const content_kept = foundError('human_user', ada?.userId, because('content_kept', { fields: 'user.userName' }));
      expect(errors).toEqual(onConflict === 'report' ? [content_kept, ofSeed] : [ofSeed]);
      expect(summary).toMatchObject({ unchanged: { org: 1 }, failed: { humanUsers: 1 } });
      expect(seedOf(zitadel, ada?.userId)).toBeUndefined();
    },
  );

  it('sends the seed of a person whom an earlier import of the caller has created without it', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    const [ada] = people(1);
    await imported(zitadel, [organisation('1', { humanUsers: [without(ada)] })]);
    const { overwritten } = await imported(zitadel, [organisation('1', { humanUsers: [ada] })]);
    expect(overwritten).toEqual({ humanUsers: 1 });
    expect(seedOf(zitadel, ada?.userId)).toBe('JBSWY3DPEHPK3PXP');
  });

  it.each([
    ...(['report', 'skip'] as const).map((onConflict) => [onConflict, 'user.human.mfa.otp.removed', 'owner'] as const),
    ['skip', 'user.human.mfa.otp.removed', 'admin'],
    ['skip', 'user.human.mfa.u2f.token.added', 'owner'],
    ['skip', 'user.human.phone.changed', 'admin'],
  ] as const)(
    'gives no factor back to a person, and names each: by %s after %s of %s',
    async (onConflict, type, editor) => {
      const zitadel = await startZitadel({ lagMs: 0 });
      const [ada] = people(1);
      const userId = ada?.userId ?? '';
      const isRemoved = type.endsWith('otp.removed');
      await imported(zitadel, [organisation('1', { humanUsers: [isRemoved ? ada : without(ada)] })]);
      const { contents } = zitadel;
      contents.put('1', 'humanUsers', userId, { ...without(ada), ...ACTIVE });
      contents.append('1', [{ aggregateType: 'user', aggregateId: userId, type }], editor);
      const content = [organisation('1', { humanUsers: people(2) })];
      for (const dryRun of [true, false]) {
        const { errors, summary } = await importIntoStandIn(zitadel, content, { onConflict, dryRun });
        expect(errors).toMatchObject([
          {
            type: 'human_user_otp',
            id: userId,
            reason: 'seed_of_changed_person',
            params: { event: type, user: editor, time: expect.stringMatching(/^\d{4}-.*Z$/) },
          },
        ]);
        expect(summary).toMatchObject({ created: { humanUsers: 1 }, failed: { humanUsers: 1 } });
      }
      expect(seedOf(zitadel, userId)).toBeUndefined();
    },
  );

  it('takes the automatic domain and verified domains for what they are', async () => {
    const zitadel = await startZitadel();
    const domains = [
      { domainName: 'organisation-1.localhost', isVerified: true, isPrimary: true },
      { domainName: 'one.example', isVerified: true },
    ];
    const url = zitadel.url.replace('127.0.0.1', 'localhost');
    const { created, unchanged } = await imported({ url }, [organisation('1', { domains })]);
    expect({ created, unchanged }).toEqual({ created: { org: 1, domains: 2 }, unchanged: {} });
  });

  it('withholds what ZITADEL cannot take, and lists it as left to do', async () => {
    const zitadel = await startZitadel();
    const content = [
      organisation('1', {
        projects: [{ projectId: '5', project: { name: 'Shop' } }],
        projectRoles: [
          { projectId: '5', roleKey: 'admin', displayName: 'Admin' },
          { projectId: '5', roleKey: 'Admin', displayName: 'Admin' },
        ],
        oidcIdps: [{ idpId: '6', idp: { name: 'IdP', clientId: 'c', issuer: 'https://idp.example' } }],
        loginPolicy: { allowUsernamePassword: true, idps: [{ idpId: '6', ownerType: 'IDP_OWNER_TYPE_ORG' }] },
        inviteUserMessages: [{ language: 'en', title: 'Welcome' }],
      }),
    ];
    const { warnings, notCarried } = await imported(zitadel, content);
    expect([...(sectionOf(zitadel, 'projectRoles')?.keys() ?? [])]).toEqual(['5_admin']);
    expect(sectionOf(zitadel, 'loginPolicy')?.size).toBe(1);
    const about = warnings.flatMap(({ type, id }) => (id === undefined ? [] : [`${type} ${id}`]));
    expect(about.sort()).toEqual(['invite_user_messages 1', 'login_policy 1', 'oidc_idp 6', 'project_role 5_Admin']);
    expect(notCarried).toEqual({ inviteUserMessages: 1, oidcIdps: 1, projectRoles: 1 });
  });

  it("sends a member of a project only under the project's organisation, although ZITADEL's exports repeat it", async () => {
    const zitadel = await startZitadel();
    const [member] = people(1);
    const projectMembers = [{ projectId: '5', userId: member?.userId, roles: ['PROJECT_OWNER'] }];
    const projects = [{ projectId: '5', project: { name: 'Shop' } }];
    const first = organisation('1', { humanUsers: [member], projects, projectMembers });
    await imported(zitadel, [first, organisation('2', { projectMembers })]);
    expect(sectionOf(zitadel, 'projectMembers')?.size).toBe(1);
  });

  it('ends at once when its signal aborts', async () => {
    const zitadel = await startZitadel();
    const controller = new AbortController();
    const running = importIntoStandIn(zitadel, [organisation('1', { humanUsers: people(10) })], {
      onStarted: () => controller.abort(),
      signal: controller.signal,
    });
    await expect(running).rejects.toThrow();
    expect(imports(zitadel)).toEqual([]);
  });
});
