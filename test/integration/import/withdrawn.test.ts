import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type Exported, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const provider = (secret: object) => ({
  idpId: 'i',
  idp: { name: 'I', clientId: 'c', issuer: 'https://idp.example', ...secret },
});
const ada = (user: object, more: object = {}) => ({ ...person('ada', user), ...more, state: 'USER_STATE_ACTIVE' });
const withProject = (more: object) => ({ projects: [{ projectId: 'p', project: { name: 'P' }, ...more }] });

/** What the target has, and what the source has instead; an export does not contain what its source lacks. */
const withdrawn: readonly [what: string, section: string, target: object, source: object][] = [
  ['an OTP e-mail factor', 'humanUsers', { humanUsers: [ada({}, { otpEmail: true })] }, { humanUsers: [ada({})] }],
  ['a TOTP seed', 'humanUsers', { humanUsers: [ada({ otpCode: 'JBSWY3DPEHPK3PXP' })] }, { humanUsers: [ada({})] }],
  ['a password', 'humanUsers', { humanUsers: [ada({ hashedPassword: { value: HASH } })] }, { humanUsers: [ada({})] }],
  ['a client secret', 'oidcIdps', { oidcIdps: [provider({ clientSecret: 's' })] }, { oidcIdps: [provider({})] }],
  ['the state inactive', 'projects', withProject({ state: 'PROJECT_STATE_INACTIVE' }), withProject({})],
];

async function filled(content: object): Promise<TestInstance> {
  const instance = await testInstance(await openTestStore());
  await instance.import({ data_orgs: { orgs: [organisation('O', content)] } });
  return instance;
}

/** An export with all secrets, of a source with other content. */
async function exported(content: object, request: object = {}): Promise<Exported> {
  return await (await filled(content)).export(request);
}

const digestOf = async (instance: TestInstance) => (await instance.export()).manifest.digest;

describe.each(withdrawn)('%s that only the target has', (_, section, target, source) => {
  it('is removed by an overwrite with an export that selected it, and the second import writes nothing', async () => {
    const [instance, file] = [await filled(target), await exported(source)];
    const overwriting = { data_orgs: JSON.parse(file.bytes), on_conflict: 'overwrite' };
    const foreseen = await instance.import({ ...overwriting, dry_run: true });
    expect(foreseen.summary).toMatchObject({ overwritten: { [section]: 1 }, failed: {} });
    const { summary } = await instance.import(overwriting);
    expect(summary).toMatchObject({ overwritten: { [section]: 1 }, failed: {} });
    expect(await digestOf(instance)).toBe(file.manifest.digest);
    const again = await instance.import(overwriting);
    expect(again.summary).toMatchObject({ created: {}, unchanged: { org: 1, [section]: 1 } });
    expect(again.summary.overwritten).toBeUndefined();
  });

  it('is an error of the record for "report", and is kept by "skip"', async () => {
    const [instance, file] = [await filled(target), await exported(source)];
    const before = await digestOf(instance);
    const reported = await instance.import({ data_orgs: JSON.parse(file.bytes) });
    expect(reported.summary).toMatchObject({ failed: { [section]: 1 } });
    expect(reported.errors).toHaveLength(1);
    const skipped = await instance.import({ data_orgs: JSON.parse(file.bytes), on_conflict: 'skip' });
    expect(skipped.summary).toMatchObject({ skipped: { [section]: 1 }, failed: {} });
    expect(await digestOf(instance)).toBe(before);
  });

  it('is kept, and unchanged, if the file has no manifest or none of the secrets were selected', async () => {
    const instance = await filled(target);
    const before = await digestOf(instance);
    const { orgs } = await exported(source);
    const none = await exported(source, { with_passwords: false, with_otp: false });
    const files = [{ orgs }, ...(section === 'projects' ? [] : [JSON.parse(none.bytes)])];
    for (const file of files) {
      const { errors, summary } = await instance.import({ data_orgs: file, on_conflict: 'overwrite' });
      expect(errors).toBeUndefined();
      expect(summary).toMatchObject({ unchanged: { org: 1, [section]: 1 } });
      expect(await digestOf(instance)).toBe(before);
    }
  });
});
