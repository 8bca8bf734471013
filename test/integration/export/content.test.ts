import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { exportOrganisations } from '../../../functions/export/operation.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { FORMAT, instanceKey } from '../../../shared/store/instance.ts';
import { organisation, person, zitadelExport, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, setUpOnce } from '../../support/stores/stores.ts';
import { exportForZitadel } from '../../support/zitadel/forZitadel.ts';

const secrets = {
  hashes: /\$2[aby]\$|\$argon2/,
  seeds: /JBSWY3DPEHPK3PXP|GEZDGNBVGY3TQOJQ/,
  clientSecrets: /google-secret/,
  passwords: /hashedPassword|"password"/,
  factors: /otpEmail|otpCode/,
};
const { hashes, seeds, clientSecrets, passwords, factors } = secrets;

describe('an export', () => {
  const filled = setUpOnce(async () => {
    const instance = await testInstance(await openTestStore());
    const [first, ...rest] = zitadelRequest('import-request');
    const people = z.array(z.looseObject({})).parse(first?.humanUsers);
    const withFactor = { ...first, humanUsers: people.map((one) => ({ ...one, otpEmail: true })) };
    await instance.import({ dataOrgs: { orgs: [withFactor, ...rest] }, with_keys: true });
    return instance;
  });

  it.each([
    ['nothing', {}, [hashes, seeds, clientSecrets, passwords, factors], []],
    ['with_passwords', { with_passwords: true }, [seeds, factors], [hashes, clientSecrets]],
    ['with_otp', { with_otp: true }, [hashes, clientSecrets, passwords], [seeds, factors]],
    ['with_keys', { with_keys: true }, [hashes, seeds, clientSecrets, passwords, factors], []],
  ])('with %s requested has no other secret anywhere in its bytes', async (_what, asked, absent, present) => {
    const instance = filled();
    const nothing = { with_passwords: false, with_otp: false, with_keys: false };
    const { bytes, orgs } = await instance.export({ ...nothing, ...asked });
    expect(orgs).toHaveLength(2);
    for (const secret of absent) expect(bytes).not.toMatch(secret);
    for (const secret of present) expect(bytes).toMatch(secret);
    expect(bytes).not.toMatch(/partition|digest":"[^s]|createdAt|sequence|ownerId|PRIVATE KEY/);
  });

  it('contains the default organisation too, unless it is excluded', async () => {
    const instance = filled();
    const { orgs } = await instance.export({ excluded_org_ids: [] });
    expect(orgs.map(({ orgId }) => orgId)).toContain(instance.orgId);
  });

  it('has no token, no membership of the instance and no claim', async () => {
    const instance = filled();
    const { bytes } = await instance.export({ excluded_org_ids: [] });
    expect(bytes).not.toMatch(/idpat_|IAM_OWNER|claims/);
  });
});

const content = { ...defaultExportOptions, withPasswords: true, withOtp: true, withKeys: true };
const never = new AbortController().signal;

describe('an export during other writes', () => {
  it('ends with the reason of its abort, at any point', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    const people = Array.from({ length: 1_200 }, (_, index) => person(`P${index}`));
    await instance.import({ dataOrgs: { orgs: [organisation('many', { humanUsers: people })] } });
    const snapshot = await store.snapshot();
    const controller = new AbortController();
    const running = exportOrganisations(
      snapshot,
      content,
      { instance: 'test', defaultOrgId: undefined, loginNamesByDomain: false },
      controller.signal,
    );
    const reason = new Error('the client has left');
    const consume = async () => {
      for await (const _part of running.bytes) controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await snapshot[Symbol.asyncDispose]();
  });
});

describe('the chunks of an export', () => {
  it('have at most 64 KiB, except those of longer texts, whatever the script of names', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    const names = ['Alice', 'Ångström', 'Соколова', '佐藤', '🦊🌈'];
    const displayNames = Array.from(
      { length: 1_000 },
      (_, index) => `${names[index % 5]?.repeat(index % 20)} ${index}`,
    );
    const people = displayNames.map((displayName, index) =>
      person(`P${index}`, { profile: { firstName: 'First', lastName: 'Last', displayName } }),
    );
    const value = Buffer.alloc(100_000, 'long ').toString('base64');
    const userMetadata = [1, 2, 3].map((number) => ({ id: 'P1', key: `long ${number}`, value }));
    await instance.import({ dataOrgs: { orgs: [organisation('many', { humanUsers: people, userMetadata })] } });
    await using snapshot = await store.snapshot();
    const selection = { ...content, orgIds: ['many'] };
    const origin = { instance: 'test', defaultOrgId: undefined, loginNamesByDomain: false };
    const chunks = await Array.fromAsync(exportOrganisations(snapshot, selection, origin, never).bytes);
    expect(chunks.every(({ length }) => length > 0)).toBe(true);
    expect(chunks.filter(({ length }) => length > 64 * 1024)).toHaveLength(userMetadata.length);
    const user = z.object({ user: z.object({ profile: z.object({ displayName: z.string() }) }) });
    const file = z.object({
      orgs: z.tuple([
        z.object({
          humanUsers: z.array(user),
          userMetadata: z.array(z.object({ key: z.string(), value: z.literal(value) })),
        }),
      ]),
    });
    const [exported] = file.parse(JSON.parse(Buffer.concat(chunks).toString())).orgs;
    expect(exported.humanUsers.map((one) => one.user.profile.displayName).sort()).toEqual(displayNames.toSorted());
    expect(exported.userMetadata.map(({ key }) => key).sort()).toEqual(userMetadata.map(({ key }) => key));
  });
});

describe('the manifest of an export', () => {
  it('contains the instance and the time of its snapshot, and counts every record', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store, 'north');
    await instance.import({ dataOrgs: { orgs: zitadelExport('export-full') }, with_keys: true });
    const { manifest, orgs } = await instance.export();
    expect(manifest).toMatchObject({ defaultOrgId: instance.orgId, exportedBy: { orgId: instance.orgId } });
    expect(manifest).toMatchObject({ version: 1, instance: 'north', readTime: expect.stringMatching(/^\d{4}-.*Z$/) });
    const counts = new Map([['orgs', orgs.length]]);
    for (const org of orgs) {
      for (const [name, value] of Object.entries(org)) {
        if (name === 'orgId' || name === 'orgState') continue;
        counts.set(name, (counts.get(name) ?? 0) + (Array.isArray(value) ? value.length : 1));
      }
    }
    expect(manifest.counts).toEqual(Object.fromEntries(counts));
  });

  it('lists the sections that were read, those without records too', async () => {
    const instance = await testInstance(await openTestStore());
    const names = (keys: boolean) =>
      sections.filter((section) => keys || section.keys !== true).map(({ name }) => name);
    expect((await instance.export()).manifest.sections).toEqual(names(true));
    expect((await instance.export({ with_keys: false })).manifest.sections).toEqual(names(false));
    expect((await exportForZitadel(instance, { org_ids: ['none'] })).manifest.sections).toEqual(names(true));
    expect((await instance.export({ orgs_only: true })).manifest.sections).toEqual([]);
  });

  it('is rejected if the file has records of a section that it does not list', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import({ dataOrgs: { orgs: [organisation('acme', { humanUsers: [person('ada')] })] } });
    const { orgs, manifest } = await instance.export();
    const withSections = (names: readonly unknown[]) => ({ orgs, manifest: { ...manifest, sections: names } });
    const { status, body } = await instance.refusedImport({ data_orgs: withSections(['machineUsers']) });
    expect(status).toBe(400);
    expect(body.message).toBe('manifest.sections: humanUsers is missing, but the file has records of this section');
    const { summary } = await instance.import({ data_orgs: withSections(['humanUsers', 7]), dry_run: true });
    expect(summary).toMatchObject({ unchanged: { org: 1, humanUsers: 1 }, proved: true });
  });

  it('has the id of the instance, but none for a database of an earlier version without one, or for a ZITADEL', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store, 'north');
    const { instanceId } = (await instance.export()).manifest;
    expect(instanceId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect((await instance.export()).manifest.instanceId).toBe(instanceId);
    expect((await exportForZitadel(instance)).manifest).not.toHaveProperty('instanceId');
    const body = JSON.stringify({ name: 'north', format: FORMAT });
    await store.commit([{ type: 'update', key: instanceKey, fields: { body } }]);
    expect((await instance.export()).manifest).not.toHaveProperty('instanceId');
  });
});

describe('an export of organisations without their records', () => {
  it('has the instance from whose export each was created, which no other export has', async () => {
    const [source, target] = [await testInstance(await openTestStore()), await testInstance(await openTestStore())];
    await source.import({ dataOrgs: { orgs: [organisation('acme', { humanUsers: [person('ada')] })] } });
    await target.import({ dataOrgs: { orgs: [organisation('own')] } });
    const exported = await source.export({ org_ids: ['acme'] });
    await target.import({ dataOrgs: exported });
    // An import that changes nothing leaves the origin.
    await target.import({ dataOrgs: { orgs: exported.orgs } });
    const active = (orgId: string) => ({ orgId, org: { name: `Organisation ${orgId}` }, orgState: 'ORG_STATE_ACTIVE' });
    const { orgs, manifest } = await target.export({ orgs_only: true, org_ids: ['acme', 'own'] });
    expect(orgs).toEqual([{ ...active('acme'), importedFrom: exported.manifest.instanceId }, active('own')]);
    expect(manifest.counts).toEqual({ orgs: 2, org: 2 });
    expect(JSON.stringify(await target.export())).not.toContain('importedFrom');
    const again = await testInstance(await openTestStore());
    const response = await again.import({ dataOrgs: { orgs, manifest } });
    expect(response.summary).toMatchObject({ created: { org: 2 }, notCarried: {}, proved: true });
  });
});
