import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectStorage, ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
import { collect, inPieces } from '../support/fixtures/bytes.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { importReport, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';

const never = new AbortController().signal;
const REQUEST_ID = 'request-1';

let local: LocalBucket;
let bucket: ObjectStorage;
beforeAll(async () => {
  local = await startLocalBucket();
  bucket = createCloudStorage({ apiEndpoint: local.url });
});
afterAll(() => local.close());

const missing = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: 'missing', key: `${index}`, value: 'eA==' }));
const unusable = (count: number) =>
  Array.from({ length: count }, (_, index) => person(`U${index}`, { hashedPassword: { value: 'unknown' } }));

function place(path: string, { clientEmail, privateKey }: ServiceAccount) {
  const keyFile = { type: 'service_account', client_email: clientEmail, private_key: privateKey };
  return { bucket: 'exports', path, serviceaccount_json: Buffer.from(JSON.stringify(keyFile)).toString('base64') };
}

async function read(path: string): Promise<string> {
  const object = await bucket.pin({ bucket: 'exports', path, account: local.both }, never);
  return (await collect(object.read(never))).toString();
}

const withWarnings = z.looseObject({ warnings: z.array(z.unknown()) });

/** Imports organisations from an object, with an account for reading it. */
async function importFrom(path: string, orgs: readonly object[], account: ServiceAccount, more: object = {}) {
  const content = Buffer.from(JSON.stringify({ orgs }));
  await bucket.write({ bucket: 'exports', path, account: local.both }, inPieces(content), never);
  const instance = await testInstance(await openTestStore(sqlite), 'target', { objectStorage: bucket });
  const response = await instance.app.request('/admin/v1/import', {
    method: 'POST',
    headers: { authorization: `Bearer ${instance.token}`, 'x-request-id': REQUEST_ID },
    body: JSON.stringify({ data_orgsv1_gcs: place(path, account), ...more }),
  });
  expect(response.status).toBe(200);
  const report = importReport.parse(await response.json());
  return { ...report, beside: `${path}.report-${REQUEST_ID}.json` };
}

describe('an import from a bucket', () => {
  it('writes all errors and warnings beside the object when the response omits some', async () => {
    const orgs = [organisation('A', { humanUsers: unusable(10_500), userMetadata: missing(12_000) })];
    const response = await importFrom('faulty.json', orgs, local.both);
    const text = await read(response.beside);
    expect(response.summary).toMatchObject({
      errorsOmitted: 2_000,
      warningsOmitted: 500,
      report: { bucket: 'exports', path: response.beside, size: Buffer.byteLength(text) },
    });
    const whole = importReport.parse(JSON.parse(text));
    expect([whole.errors?.length, withWarnings.parse(whole.summary).warnings.length]).toEqual([12_000, 10_501]);
    expect(whole.success).toEqual(response.success);
    expect(whole.summary).toMatchObject({ created: { org: 1, humanUsers: 10_500 }, failed: { userMetadata: 12_000 } });
    for (const field of ['errorsOmitted', 'warningsOmitted', 'report']) expect(whole.summary).not.toHaveProperty(field);
  });

  it('succeeds without a permission to write there, and says which role is missing', async () => {
    const orgs = [organisation('A', { userMetadata: missing(10_001) })];
    const { summary, beside } = await importFrom('readable.json', orgs, local.viewer);
    expect(summary).toMatchObject({
      created: { org: 1 },
      errorsOmitted: 1,
      reportError: `gs://exports/${beside}: grant the service account the role Storage Object Creator on the bucket`,
    });
    await expect(read(beside)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('never overwrites an object there, and says so', async () => {
    const path = `taken.json.report-${REQUEST_ID}.json`;
    await bucket.write({ bucket: 'exports', path, account: local.both }, inPieces(Buffer.from('mine')), never);
    const orgs = [organisation('A', { userMetadata: missing(10_001) })];
    const { summary } = await importFrom('taken.json', orgs, local.both);
    expect(summary.reportError).toContain(`gs://exports/${path}`);
    expect(await read(path)).toBe('mine');
  });

  it.each<[string, number, () => object]>([
    ['when the response lists everything', 10_000, () => ({})],
    ['in a dry run', 10_001, () => ({ dry_run: true })],
    ['with report_gcs', 10_001, () => ({ report_gcs: place('asked.json', local.creator) })],
  ])('writes nothing there %s', async (when, errors, more) => {
    const orgs = [organisation('A', { userMetadata: missing(errors) })];
    const { summary, beside } = await importFrom(`${when}.json`, orgs, local.both, more());
    expect(summary.reportError).toBeUndefined();
    await expect(read(beside)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says so where the name of the object leaves no room for the name of the report', async () => {
    const path = `${'long'.repeat(255)}.js`;
    const { summary } = await importFrom(path, [organisation('A', { userMetadata: missing(10_001) })], local.both);
    expect(summary).toMatchObject({ created: { org: 1 }, reportError: expect.stringContaining('1024') });
  });
});
