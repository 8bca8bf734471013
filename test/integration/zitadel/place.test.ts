import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openRemote } from '../../../cli/open/remotePlace.ts';
import { exportLosses } from '../../../cli/zitadel/export/exportContent.ts';
import { importResponse } from '../../../functions/import/contract.ts';
import { allReleases } from '../../../shared/organisation/zitadelReleases.ts';
import { call, identity } from '../../support/command.ts';
import { organisation, person, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { elements } from '../../support/zitadel/contents.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { importsOf, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const { signal } = new AbortController();
const { summary } = importResponse.shape;
const result = z.looseObject({ event: z.literal('result'), summary: summary.optional() });
const steps = z.array(z.looseObject({ reason: z.string() }));
const manualSteps = z.object({ leftToDoInZitadel: steps });
const foreseen = z.object({ leftToDo: steps });
const file = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) });

/** Runs a command with `--json`, and returns its exit code and its result. */
async function resultOf(...args: readonly string[]) {
  const { code, stdout, stderr } = await identity([...args, '--json']);
  const line = stdout.trim().split('\n').at(-1) ?? '';
  expect(line, stderr).toContain('"event":"result"');
  return { code, ...result.parse(JSON.parse(line)) };
}

const [recorded] = zitadelRequest('import-request').flatMap(({ machineKeys }) => elements(machineKeys));
const key = { ...recorded, userId: '31' };
const acme = organisation('acme', {
  humanUsers: people(3),
  machineUsers: [{ userId: '31', user: { userId: '31', userName: 'robot', name: 'Robot' } }],
  machineKeys: [key],
  oidcIdps: [
    {
      idpId: '51',
      idp: {
        name: 'Corporate',
        clientId: 'client',
        clientSecret: 'secret of the provider',
        issuer: 'https://idp.example',
        displayNameMapping: 'OIDC_MAPPING_FIELD_EMAIL',
        usernameMapping: 'OIDC_MAPPING_FIELD_EMAIL',
      },
    },
  ],
});

const searchesOf = ({ requests }: ZitadelStandIn) => requests.filter(({ path }) => /export/i.test(path));

describe('a ZITADEL as a source', () => {
  it('is recognised and exported organisation by organisation, and its losses are listed', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([acme, organisation('emca')]);
    const directory = await testDirectory();
    const [plain, complete] = [join(directory, 'plain.json'), join(directory, 'complete.json.gz')];
    const from = ['export', zitadel.url, '--token-file', token, '--exclude-org', DEFAULT_ORGANISATION];
    expect(await resultOf(...from, '--to', complete, '--with', 'passwords,otp,keys')).toMatchObject({
      code: 0,
      organisations: 2,
      losses: exportLosses(allReleases),
    });
    expect(zitadel.deaths()).toBe(0);
    expect(searchesOf(zitadel)).toHaveLength(2);
    const shown = await call(`${from.join(' ')} --to ${plain}`, 0);
    expect(shown.stdout).toContain(`Not exported by ZITADEL\n  ${exportLosses(allReleases)[0]}\n`);
    const text = await readFile(plain, 'utf8');
    const [exported] = file.parse(JSON.parse(text)).orgs;
    expect(exported).toMatchObject({ orgId: 'acme', machineUsers: [{ userId: '31' }] });
    // ZITADEL exports these even if they are not requested.
    expect(exported?.machineKeys).toBeUndefined();
    expect(text).not.toContain('secret of the provider');
    expect(await resultOf('inspect', complete)).toMatchObject({
      secrets: { passwordHashes: 3, totpSeeds: 1, keys: 1, clientSecrets: 1 },
    });
  });

  it('is one instance at all its addresses', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([acme]);
    const sides = [zitadel.url, zitadel.url.replace('127.0.0.1', 'localhost')];
    const { stderr } = await identity(['compare', ...sides, '--from-token-file', token, '--to-token-file', token]);
    expect(stderr).toBe(`identity: ${sides.join(' and ')} are the same instance: specify two instances\n`);
  });

  it('is inspected, and imported by an instance', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([acme]);
    const from = [zitadel.url, '--from-token-file', token, '--org', 'acme', '--with', 'passwords,otp,keys'];
    const inspected = await resultOf('inspect', ...from.map((arg) => arg.replace('--from-', '--')));
    const content = { organisations: 1, hashFormats: { bcrypt: 3 }, losses: exportLosses(allReleases) };
    expect(inspected).toMatchObject({ code: 0, ...content });
    const { database } = await servedPlace(sqlite);
    expect(await resultOf('import', ...from, '--to', database)).toMatchObject({
      code: 0,
      summary: { created: { org: 1, humanUsers: 3, machineUsers: 1, machineKeys: 1 }, failed: {} },
      losses: exportLosses(allReleases),
    });
    const sides = ['compare', ...from];
    expect(await resultOf(...sides.toSpliced(2, 0, database))).toMatchObject({ code: 0, equal: true });
  });

  it('lists the selected organisations that it does not have', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([organisation('acme')]);
    const target = join(await testDirectory(), 'out.json');
    const from = ['export', zitadel.url, '--token-file', token, '--org', 'acme', '--org', 'emca', '--to', target];
    await call(from, 64, `${zitadel.url} does not have organisation emca: `);
    expect(existsSync(target)).toBe(false);
  });
});

const whole = (zitadel: ZitadelStandIn, orgId: string, section: string) =>
  zitadel.contents.organisations.get(orgId)?.sections.get(section)?.size ?? 0;

describe('a ZITADEL as a target', () => {
  it('takes a file whose inspection lists the same manual steps as the migration', async () => {
    const [withHash, ...others] = people(3);
    const user = { ...withHash?.user, userName: 'nohash', hashedPassword: undefined };
    const complete = await exportFileWith(
      organisation('acme', {
        loginPolicy: { allowUsernamePassword: true, idps: [{ idpId: '99', ownerType: 'IDP_OWNER_TYPE_ORG' }] },
        humanUsers: [withHash, { ...withHash, userId: '39', user }, ...others],
        userLinks: [{ userId: '39', idpId: '99', providedUserId: 'external', providedUserName: 'external' }],
      }),
    );
    const { leftToDoInZitadel } = manualSteps.parse(await resultOf('inspect', complete));
    const { zitadel, tokenFile: token } = await filledZitadel([]);
    const to = ['--to', zitadel.url, '--to-token-file', token];
    const { leftToDo } = foreseen.parse(await resultOf('migrate', '--from', complete, ...to, '--dry-run'));
    const reasons = ['person_without_hash_becomes_initial', 'link_rejected', 'providers_missing_in_policy'];
    const ofRecords = (list: typeof leftToDo) =>
      list.filter(({ reason }) => reasons.includes(reason)).toSorted((a, b) => a.reason.localeCompare(b.reason));
    expect(ofRecords(leftToDo)).toHaveLength(3);
    expect(ofRecords(leftToDoInZitadel)).toEqual(ofRecords(leftToDo));
  });

  it('is tried, imported into and compared, and repeating that changes nothing', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([], { lagMs: 300 });
    const input = await exportFileWith(...zitadelRequest('import-request'));
    const to = ['--to', zitadel.url, '--token-file', token, '--with', 'all'];
    const tried = await resultOf('import', input, ...to, '--dry-run');
    expect(tried).toMatchObject({ code: 0, summary: { dryRun: true, unchanged: {}, failed: {} } });
    expect(whole(zitadel, '330000000000000001', 'humanUsers')).toBe(0);
    const first = await resultOf('import', input, ...to);
    expect(first).toMatchObject({
      code: 0,
      summary: { created: { org: 2, humanUsers: 10 }, unchanged: {}, failed: {} },
    });
    expect({ ...first.summary, dryRun: true }).toEqual(tried.summary);
    expect(first.summary?.warnings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('new client ids and client secrets') }),
    );
    const people = whole(zitadel, '330000000000000001', 'humanUsers');
    const sides = ['compare', input, zitadel.url, '--token-file', token, '--with', 'passwords,otp,keys'];
    const compared = () => resultOf(...sides, '--exclude-org', DEFAULT_ORGANISATION);
    // A ZITADEL's exports lag behind its imports.
    await expect.poll(compared).toMatchObject({ code: 0, equal: true, differences: [] });
    const sent = importsOf(zitadel).length;
    const again = await resultOf('import', input, ...to);
    expect(again).toMatchObject({
      code: 0,
      summary: { created: {}, unchanged: first.summary?.created ?? {}, failed: {} },
    });
    expect(whole(zitadel, '330000000000000001', 'humanUsers')).toBe(people);
    // No export has invitations, and trigger actions of some flows, so they are sent again.
    const repeated = importsOf(zitadel).slice(sent);
    expect(repeated).toMatchObject([{ records: 1 }, { records: 1 }]);
    expect(await compared()).toMatchObject({ code: 0, equal: true, differences: [] });
  });

  it('counts the organisations and fields of a file that it does not take', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([]);
    const left = organisation('emca', { humanUsers: [person('left')] });
    const input = await exportFileWith({ ...organisation('acme'), passkeys: ['a'] }, left);
    const to = ['--to', zitadel.url, '--token-file', token, '--org', 'acme'];
    expect(await resultOf('import', input, ...to)).toMatchObject({
      summary: { created: { org: 1 }, notCarried: { org: 1, humanUsers: 1, passkeys: 1 } },
    });
  });

  it('takes more organisations than the request of another import can select', async () => {
    const { zitadel, tokenFile: token } = await filledZitadel([]);
    const input = await exportFileWith(organisation('acme'), organisation('emca'));
    const absent = Array.from({ length: 600 }, (_, index) => ['--exclude-org', `organisation number ${index}`]);
    const to = ['--to', zitadel.url, '--token-file', token, '--org', 'acme', ...absent.flat()];
    expect(await resultOf('import', input, ...to)).toMatchObject({ code: 0, summary: { created: { org: 1 } } });
    expect(zitadel.contents.organisations.has('emca')).toBe(false);
  });
});

describe('the facts of a place', () => {
  const both = ['export', 'import'] as const;
  const open = (url: string, token: string) => openRemote({ origin: url, token, tokenOption: '--token-file' });

  it('are those of a ZITADEL and its token', async () => {
    const { zitadel } = await filledZitadel([]);
    const facts = await open(zitadel.url, 'owner-token').facts(both, signal);
    expect(facts).toMatchObject({
      service: 'zitadel',
      version: undefined,
      instance: 'ZITADEL',
      instanceId: `4000000000000${new URL(zitadel.url).port}`,
      defaultOrgId: DEFAULT_ORGANISATION,
      caller: { userId: 'owner', roles: ['IAM_OWNER'] },
      denied: [],
    });
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    expect(await open(zitadel.url, 'guest-token').facts(both, signal)).toMatchObject({ denied: both });
    await expect(open(zitadel.url, 'wrong').facts(both, signal)).rejects.toThrow('rejects the token');
  });
});
