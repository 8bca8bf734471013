import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { importWithReport, type WholeReport } from '../../../functions/import/results/wholeReport.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { storageUnavailable } from '../../../shared/errors/storageErrors.ts';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import type { ObjectStorage, ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { collect, inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { importReport, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const never = new AbortController().signal;

let local: LocalBucket;
let bucket: ObjectStorage;
beforeAll(async () => {
  local = await startLocalBucket();
  bucket = createCloudStorage({ apiEndpoint: local.url });
});
afterAll(() => local.close());

const instanceWith = async (objectStorage: ObjectStorage) =>
  testInstance(await openTestStore(sqlite), 'target', { objectStorage });

const place = (path: string, { clientEmail, privateKey }: ServiceAccount) => {
  const keyFile = { type: 'service_account', client_email: clientEmail, private_key: privateKey };
  return { bucket: 'exports', path, serviceaccount_json: Buffer.from(JSON.stringify(keyFile)).toString('base64') };
};

async function read(path: string): Promise<string> {
  const object = await bucket.pin({ bucket: 'exports', path, account: local.both }, never);
  return (await collect(object.read(never))).toString();
}

const humanUsers = (count: number) =>
  Array.from({ length: count }, (_, index) => person(`U${index}`, { hashedPassword: { value: 'unknown' } }));

describe('an import with report_gcs', () => {
  const userMetadata = Array.from({ length: 12_000 }, (_, index) => ({
    id: 'missing',
    key: `${index}`,
    value: 'eA==',
  }));

  it('writes every error, warning and id to the object, and the limited lists to the response', async () => {
    const instance = await instanceWith(bucket);
    const projects = [{ projectId: 'P', project: { name: 'P' } }];
    const projectGrants = [{ grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'B' } }];
    const orgs = [
      organisation('A', { humanUsers: humanUsers(11_000), userMetadata, projects, projectGrants }),
      organisation('B', { projects: [{ projectId: 'Q', project: { name: 'Q' } }] }),
      organisation('C'),
    ];
    const response = await instance.import({ dataOrgs: { orgs }, report_gcs: place('whole.json', local.creator) });
    const text = await read('whole.json');
    expect(response.summary).toMatchObject({
      errorsOmitted: 2_000,
      warningsOmitted: 1_000,
      report: { bucket: 'exports', path: 'whole.json', size: Buffer.byteLength(text) },
    });
    const whole = importReport.parse(JSON.parse(text));
    const { warnings } = z.looseObject({ warnings: z.array(z.unknown()) }).parse(whole.summary);
    expect([whole.errors?.length, warnings.length]).toEqual([12_000, 11_001]);
    expect(whole.errors?.slice(0, 10_000)).toEqual(response.errors);
    expect(whole.success).toEqual(response.success);
    const { errorsOmitted: _e, warningsOmitted: _w, report: _r, ...summary } = response.summary;
    expect(whole.summary).toEqual({ ...summary, warnings });
  });

  it('lists the ids in the object also where there are too many for the response', { timeout: 120_000 }, async () => {
    const instance = await instanceWith(bucket);
    const users = Array.from({ length: 100_001 }, (_, index) => ({
      userId: `U${index}`,
      user: { userName: `u${index}`, name: 'n' },
    }));
    const { success, summary } = await instance.import({
      dataOrgs: { orgs: [organisation('A', { machineUsers: users })] },
      report_gcs: place('ids.json', local.creator),
    });
    expect({ success, omitted: summary.idsOmitted }).toEqual({ success: { orgs: [{ orgId: 'A' }] }, omitted: true });
    const whole = importReport.parse(JSON.parse(await read('ids.json')));
    expect(whole.success.orgs).toEqual([{ orgId: 'A', machineUserIds: users.map(({ userId }) => userId) }]);
    expect(whole.summary.idsOmitted).toBeUndefined();
  });

  it('writes the report of a dry run and of an import without errors', async () => {
    const instance = await instanceWith(bucket);
    const dataOrgs = { orgs: [organisation('A', { humanUsers: [person('U')] })] };
    await instance.import({ dataOrgs, dry_run: true, report_gcs: place('dry.json', local.creator) });
    expect(JSON.parse(await read('dry.json'))).toMatchObject({
      errors: [],
      success: { orgs: [{ orgId: 'A', humanUserIds: ['U'] }] },
      summary: { created: { org: 1, humanUsers: 1 }, dryRun: true, warnings: [unproved] },
    });
    expect((await instance.export()).orgs).toEqual([]);
  });

  it.each<[string, () => object, number]>([
    ['exists', () => place('taken.json', local.both), 409],
    ['may not be written', () => place('denied.json', local.viewer), 403],
    ['has no name', () => place('', local.both), 400],
  ])('imports nothing where the object %s', async (_what, report_gcs, expected) => {
    const account = local.both;
    const content = (async function* () {
      yield Buffer.from('{}');
    })();
    await bucket.write({ bucket: 'exports', path: 'taken.json', account }, content, never).catch(() => undefined);
    const instance = await instanceWith(bucket);
    const dataOrgs = { orgs: [organisation('A')] };
    const { status } = await instance.refusedImport({ dataOrgs, report_gcs: report_gcs() });
    expect(status).toBe(expected);
    expect((await instance.export()).orgs).toEqual([]);
  });

  it('leaves no object where the import fails, and returns the error of the import', async () => {
    const instance = await instanceWith(bucket);
    const { status, body } = await instance.refusedImport({
      dataOrgs: { orgs: [{ orgId: 'A', org: { name: '' } }] },
      report_gcs: place('invalid.json', local.both),
    });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 3 });
    await expect(read('invalid.json')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('leaves no object where the time is over, and returns the progress of the import', async () => {
    const store = await openTestStore(sqlite);
    const controller = new AbortController();
    const watched = watchedStore(store, () => controller.abort(deadlineExceeded()));
    const file = Buffer.from(JSON.stringify({ orgs: [organisation('A', { humanUsers: humanUsers(300) })] }));
    const run = (whole: WholeReport) =>
      importOrganisations(
        watched,
        { open: () => inPieces(file) },
        { withKeys: false, whole },
        '2026-01-01T00:00:00.000001Z',
        controller.signal,
      );
    const location = { bucket: 'exports', path: 'late.json', account: local.both };
    await expect(importWithReport(bucket, location, run, controller.signal)).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      details: [{ written: { org: 1 }, total: { org: 1, humanUsers: 300 }, resumable: true }],
    });
    await expect(read('late.json')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('keeps the response where the object cannot be completed, and says why', async () => {
    const breaking: ObjectStorage = {
      ...bucket,
      write: async ({ bucket: name, path }, content) => {
        for await (const _chunk of content);
        throw storageUnavailable({ bucket: name, path }, undefined);
      },
    };
    const instance = await instanceWith(breaking);
    const dataOrgs = { orgs: [organisation('A')] };
    const { success, summary } = await instance.import({ dataOrgs, report_gcs: place('broken.json', local.both) });
    expect(success.orgs).toEqual([{ orgId: 'A' }]);
    expect(summary.reportError).toContain('gs://exports/broken.json');
    expect((await instance.export()).orgs).toHaveLength(1);
  });

  it('imports from a bucket and writes the report to it', async () => {
    const account = local.both;
    const source = await instanceWith(bucket);
    await source.import({ dataOrgs: { orgs: [organisation('A')] } });
    await source.attempt('export', { gcs_output: place('file.json', account), excluded_org_ids: [source.orgId] });
    const target = await instanceWith(bucket);
    const { summary } = await target.import({
      data_orgsv1_gcs: place('file.json', account),
      reportGcs: place('file.report.json', account),
    });
    expect(summary).toMatchObject({ proved: true, report: { path: 'file.report.json' } });
  });
});

describe('an export with both outputs', () => {
  it('says that the object was written where the response is too large', async () => {
    const instance = await testInstance(await openTestStore(sqlite), 'source', {
      objectStorage: bucket,
      limits: { responseBytes: 10_000 },
    });
    await instance.import({ dataOrgs: { orgs: [organisation('A', { humanUsers: humanUsers(100) })] } });
    const outputs = { response_output: true, gcs_output: place('both.json', local.both) };
    const { status, text } = await instance.attempt('export', outputs);
    expect({ status, text }).toEqual({
      status: 400,
      text: expect.stringContaining('gs://exports/both.json was written'),
    });
    expect(JSON.parse(text)).toMatchObject({ code: 9, message: expect.stringContaining('10000 bytes') });
    expect(JSON.parse(await read('both.json')).orgs).toHaveLength(2);
  });
});

describe('an import from a bucket without report_gcs', () => {
  it('writes no object, also where the response cannot list all errors', async () => {
    const userMetadata = Array.from({ length: 10_001 }, (_, key) => ({ id: 'missing', key: `${key}`, value: 'eA==' }));
    const content = Buffer.from(JSON.stringify({ orgs: [organisation('A', { userMetadata })] }));
    await bucket.write({ bucket: 'exports', path: 'faulty.json', account: local.both }, inPieces(content), never);
    const write = vi.fn(bucket.write);
    const instance = await instanceWith({ ...bucket, write });
    const { summary } = await instance.import({ data_orgsv1_gcs: place('faulty.json', local.both) });
    expect(summary).toMatchObject({ created: { org: 1 }, failed: { userMetadata: 10_001 }, errorsOmitted: 1 });
    expect(summary).not.toHaveProperty('report');
    expect(write).not.toHaveBeenCalled();
  });
});
