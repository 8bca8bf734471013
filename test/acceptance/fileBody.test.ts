import { expect, it } from 'vitest';
import { comparable } from '../support/fixtures/comparable.ts';
import { sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import {
  EXPORT_FILE,
  expectError,
  exportFrom,
  importFile,
  importInto,
  post,
  postFile,
  send,
} from '../support/http/wire.ts';
import { describeDeployment } from '../support/instances/deployments.ts';

/** A file of v1, with the lists of a login policy next to the policy. */
const asV1 = (organisation: object) => ({
  ...organisation,
  loginPolicy: { allowUsernamePassword: true },
  secondFactors: [{ type: 'SECOND_FACTOR_TYPE_OTP' }],
  multiFactors: [],
});

describeDeployment('an import whose body is the file', (get) => {
  const fileOf = (...orgs: readonly object[]) => JSON.stringify({ orgs });
  const exported = async (orgId: string) => (await exportFrom(get().target, { org_ids: [orgId] })).orgs;

  it('accepts an exported file unchanged and proves it, and finds it unchanged the second time, also in the JSON form', async () => {
    const { source, target } = get();
    const organisation = sampleOrganisation();
    await importInto(source, { data_orgs: { orgs: [organisation] } });
    const file = await exportFrom(source, { org_ids: [organisation.orgId] });
    const text = JSON.stringify(file);
    const first = await importFile(target, '?timeout=5m', text);
    expect(first.errors).toBeUndefined();
    expect(first.summary).toMatchObject({ created: { org: 1, humanUsers: 4 }, failed: {}, proved: true });
    expect(comparable(await exported(organisation.orgId))).toEqual(comparable(file.orgs));
    const second = await importFile(target, '', text);
    expect(second.summary).toMatchObject({ created: {}, unchanged: first.summary.created, failed: {} });
    const third = await importInto(target, { data_orgsv1: file });
    expect(third.summary).toMatchObject({ created: {}, unchanged: first.summary.created, failed: {} });
  });

  it('accepts a file of v1', async () => {
    const organisation = sampleOrganisation();
    const { errors } = await importFile(get().target, '', fileOf(asV1(organisation)));
    expect(errors).toBeUndefined();
    expect(await exported(organisation.orgId)).toMatchObject([
      { loginPolicy: { secondFactors: ['SECOND_FACTOR_TYPE_OTP'] } },
    ]);
  });

  it.each([`${EXPORT_FILE}; charset=utf-8`, EXPORT_FILE.toUpperCase(), ` ${EXPORT_FILE} ;x=y`])(
    'recognises its media type as %s',
    async (type) => {
      const query = '?dry_run=true';
      const { summary } = await importFile(get().target, query, fileOf(sampleOrganisation()), { 'content-type': type });
      expect(summary).toMatchObject({ dryRun: true });
    },
  );

  it('writes nothing with dryRun=true', async () => {
    const organisation = sampleOrganisation();
    const { summary } = await importFile(get().target, '?dryRun=true', fileOf(organisation));
    expect(summary).toMatchObject({ created: { org: 1, humanUsers: 4 }, dryRun: true });
    expect(await exported(organisation.orgId)).toEqual([]);
  });

  it('imports the organisations in the query, percent-encoded or not', async () => {
    const [one, two, three] = [sampleOrganisation(), sampleOrganisation(), sampleOrganisation()];
    const [id, encoded] = [one.orgId, two.orgId.replace(/\d/, (digit) => `%3${digit}`)];
    const query = `?org_ids=${id}&excluded_org_ids=${three.orgId}&org_ids=${encoded}&org_ids=${three.orgId}`;
    const { summary } = await importFile(get().target, query, fileOf(one, two, three));
    expect(summary).toMatchObject({ created: { org: 2 }, notCarried: { org: 1 } });
    expect(await exported(three.orgId)).toEqual([]);
    const rest = await importFile(get().target, `?excludedOrgIds=${one.orgId}`, fileOf(one, two, three));
    expect(rest.summary).toMatchObject({ created: { org: 1 }, notCarried: { org: 1 } });
  });

  it('handles conflicts, keys, ids and new organisations according to the query', async () => {
    const { target } = get();
    const organisation = sampleOrganisation();
    const first = await importFile(target, '?ids=false', fileOf(organisation));
    expect(first.summary).toMatchObject({ created: { org: 1 }, idsOmitted: true });
    const renamed = { ...organisation, org: { name: `${organisation.org.name} renamed` } };
    const reported = await importFile(target, '?on_conflict=report', fileOf(renamed));
    expect(reported.summary).toMatchObject({ failed: { org: 1 } });
    const overwritten = await importFile(target, '?onConflict=overwrite', fileOf(renamed));
    expect(overwritten.summary).toMatchObject({ overwritten: { org: 1 } });
    expectError(await postFile(target, '?on_conflict=fail', fileOf(organisation)), 409, 6);
    const key = { keyId: `key-${organisation.orgId}`, userId: organisation.machineUsers[0]?.userId, type: 1 };
    const withKeys = fileOf({ ...organisation, machineKeys: [key] });
    expect((await importFile(target, '', withKeys)).summary).toMatchObject({ notCarried: { machineKeys: 1 } });
    const carried = await importFile(target, '?with_keys=true', withKeys);
    expect(carried.summary.notCarried).toEqual({});
  });

  it('ends with 504 at its timeout', async () => {
    expectError(await postFile(get().target, '?timeout=1ns', fileOf(sampleOrganisation())), 504, 4);
  });

  it('reads no option from the file', async () => {
    const { target } = get();
    const organisation = sampleOrganisation();
    await importFile(target, '', fileOf(organisation));
    const renamed = { ...organisation, org: { name: `${organisation.org.name} renamed` } };
    const options = { on_conflict: 'overwrite', dry_run: true, ids: false };
    const file = JSON.stringify({ ...options, orgs: [renamed], data_orgs: { orgs: [renamed] } });
    const { summary, success } = await importFile(target, '', file);
    expect(summary).toMatchObject({ failed: { org: 1 } });
    expect(summary).not.toMatchObject({ dryRun: true });
    expect(success.orgs).toMatchObject([{ orgId: organisation.orgId }]);
  });

  it('is rejected without a token, with an unknown token, and before its query is read', async () => {
    const request = { method: 'POST', path: '/admin/v1/import?colour=red', body: fileOf(sampleOrganisation()) };
    const headers = { 'content-type': EXPORT_FILE };
    expectError(await send(get().target, { ...request, headers }), 401, 16);
    expectError(await send(get().target, { ...request, headers, token: 'unknown' }), 401, 16);
  });

  it('is the only form that rejects unknown parameters of the query', async () => {
    const { target } = get();
    const organisation = sampleOrganisation();
    const request = { method: 'POST', path: '/admin/v1/import?colour=%ff', token: target.token };
    const body = JSON.stringify({ data_orgs: { orgs: [organisation] } });
    const answer = await send(target, { ...request, body, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(answer.text)).toMatchObject({ summary: { created: { org: 1 } } });
    expect(await exported(organisation.orgId)).toHaveLength(1);
    expectError(await post(target, 'import', { dry_run: true }), 400, 3);
  });
});
