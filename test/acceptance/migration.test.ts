import { expect, it } from 'vitest';
import { comparable } from '../support/fixtures/comparable.ts';
import { sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, post } from '../support/http/wire.ts';
import { describeDeployments, describeOwnDeployments } from '../support/instances/deployments.ts';

const inlineForms = ['data_orgsv1', 'dataOrgsv1', 'data_orgs', 'dataOrgs'].flatMap((field) => [
  { field, form: 'an object', of: (file: object): unknown => file },
  { field, form: 'a string', of: (file: object): unknown => JSON.stringify(file) },
]);

// Other tests create organisations in the shared source, and expect them to be absent from the target.
describeOwnDeployments('a whole migration', (get) => {
  it('copies everything from the source to the target, field by field', async () => {
    const { source, target } = get();
    const file = await exportFrom(source);
    const report = await importInto(target, { timeout: '5m', data_orgsv1: file });
    expect(report.errors).toBeUndefined();
    expect(report.summary).toMatchObject({ failed: {}, notCarried: {}, proved: true });
    const org_ids = file.orgs.map(({ orgId }) => orgId);
    const arrived = await exportFrom(target, { org_ids });
    expect(comparable(arrived.orgs)).toEqual(comparable(file.orgs));
    expect(arrived.manifest).toMatchObject({ counts: file.manifest.counts, digest: file.manifest.digest });
  });
});

describeDeployments('migration', (get) => {
  it.each(inlineForms)(
    'accepts the file as $form in $field, and finds it unchanged the second time',
    async ({ field, of }) => {
      const { target } = get();
      const organisation = sampleOrganisation();
      const body = { timeout: '1m', [field]: of({ orgs: [organisation] }) };
      const first = await importInto(target, body);
      expect(first.errors).toBeUndefined();
      expect(first.success.orgs).toMatchObject([{ orgId: organisation.orgId }]);
      expect(first.summary).toMatchObject({
        created: { org: 1, humanUsers: 4, projects: 1 },
        unchanged: {},
        failed: {},
      });
      const second = await importInto(target, body);
      expect(second.errors).toBeUndefined();
      expect(second.summary).toMatchObject({ created: {}, unchanged: first.summary.created, failed: {} });
      const { orgs } = await exportFrom(target, { org_ids: [organisation.orgId] });
      expect(comparable(orgs)).toEqual(comparable([organisation]));
    },
  );

  it('accepts field names in both spellings', async () => {
    const { target } = get();
    const { orgId } = sampleOrganisation();
    const snake = { org_id: orgId, org: { name: `Both spellings ${orgId}` }, human_users: [] };
    await importInto(target, { data_orgs: { orgs: [snake] } });
    const file = await exportFrom(target, { org_ids: undefined, orgIds: [orgId] });
    expect(file.orgs).toMatchObject([{ orgId, org: snake.org }]);
  });

  it('exports the requested organisations, without the excluded ones', async () => {
    const { target } = get();
    const organisations = [sampleOrganisation(), sampleOrganisation(), sampleOrganisation()];
    await importInto(target, { data_orgs: { orgs: organisations } });
    const [one, two, three] = organisations.map(({ orgId }) => orgId);
    const idsOf = async (selection: object) => (await exportFrom(target, selection)).orgs.map(({ orgId }) => orgId);
    expect((await idsOf({ org_ids: [one, two] })).sort()).toEqual([one, two].sort());
    expect(await idsOf({ org_ids: [one, two], excluded_org_ids: [two] })).toEqual([one]);
    const rest = await idsOf({ org_ids: [], excluded_org_ids: [one, three] });
    expect(rest).toContain(two);
    expect(rest).not.toContain(one);
    expect(rest).not.toContain(three);
    expect(await idsOf({ org_ids: ['no such organisation'] })).toEqual([]);
  });

  it('omits password hashes, OTP codes and the OTP e-mail factor unless they are requested', async () => {
    const { target } = get();
    const organisation = sampleOrganisation();
    await importInto(target, { data_orgs: { orgs: [organisation] } });
    const textOf = async (flags: object) =>
      JSON.stringify(await exportFrom(target, { org_ids: [organisation.orgId], ...flags }));
    const neither = await textOf({ with_passwords: false, with_otp: false });
    expect(neither).not.toMatch(/hashedPassword|otpCode|otpEmail/);
    const passwords = await textOf({ with_passwords: true, with_otp: false });
    expect(passwords).toContain('hashedPassword');
    expect(passwords).not.toMatch(/otpCode|otpEmail/);
    const otp = await textOf({ with_passwords: false, with_otp: true });
    expect(otp).toMatch(/otpCode/);
    expect(otp).toMatch(/otpEmail/);
    expect(otp).not.toContain('hashedPassword');
  });

  it('reports an existing record with other content, and changes nothing', async () => {
    const { target } = get();
    const organisation = sampleOrganisation();
    await importInto(target, { data_orgs: { orgs: [organisation] } });
    const [first, ...others] = organisation.humanUsers;
    const changed = { ...first, user: { ...first?.user, userName: 'another.name' } };
    const file = { orgs: [{ ...organisation, humanUsers: [changed, ...others] }] };
    const { errors, summary } = await importInto(target, { data_orgs: file });
    expect(errors).toEqual([
      {
        type: 'human_user',
        id: first?.userId,
        message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting',
        reason: 'record_exists',
        params: { fields: 'user.userName' },
      },
    ]);
    expect(summary).toMatchObject({ created: {}, failed: { humanUsers: 1 } });
    const { orgs } = await exportFrom(target, { org_ids: [organisation.orgId] });
    expect(comparable(orgs)).toEqual(comparable([organisation]));
  });

  it('rejects a modified export file, and writes nothing of it', async () => {
    const { source, target } = get();
    const organisation = sampleOrganisation();
    await importInto(source, { data_orgs: { orgs: [organisation] } });
    const file = await exportFrom(source, { org_ids: [organisation.orgId] });
    const [first] = file.orgs;
    const changes = [
      { ...file, orgs: [] },
      { ...file, orgs: [{ ...first, org: { name: 'Another name' } }] },
      { ...file, orgs: [{ ...first, humanUsers: [] }] },
    ];
    for (const changed of changes) {
      expectError(await post(target, 'import', { data_orgsv1: changed }), 400, 3);
      expect((await exportFrom(target, { org_ids: [organisation.orgId] })).orgs).toEqual([]);
    }
  });
});
