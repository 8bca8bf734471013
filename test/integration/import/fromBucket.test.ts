import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const never = new AbortController().signal;

describe('an object in a bucket', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
  });
  afterAll(() => local.close());

  async function withObject(path: string, content: string | Buffer) {
    const bucket = createCloudStorage(local.url);
    const { account } = local;
    await bucket.write({ bucket: 'exports', path, account }, inPieces(Buffer.from(content)), never);
    const instance = await testInstance(await openTestStore(sqlite), 'target', { objectStorage: bucket });
    const keyFile = { type: 'service_account', client_email: account.clientEmail, private_key: account.privateKey };
    const serviceaccount_json = Buffer.from(JSON.stringify(keyFile)).toString('base64');
    return { instance, source: { bucket: 'exports', path, serviceaccount_json } };
  }

  it.each(['data_orgs_gcs', 'data_orgsv1_gcs'])('that is an empty export imports nothing: %s', async (field) => {
    const { instance, source } = await withObject(`nothing-${field}`, '{}\n');
    const { errors, success, summary } = await instance.import({ [field]: source });
    expect({ errors, success, created: summary.created }).toEqual({ errors: undefined, success: {}, created: {} });
  });

  it.each([
    ['data_orgs_gcs', 'FLOW_TYPE_EXTERNAL_AUTHENTICATION'],
    ['data_orgsv1_gcs', '1'],
  ])('that is a file of a version is read as such: %s', async (field, flowType) => {
    const triggerActions = [{ flowType: 'FLOW_TYPE_EXTERNAL_AUTHENTICATION', triggerType: '1', actionIds: ['none'] }];
    const file = { orgs: [organisation('O', { triggerActions })] };
    const { instance, source } = await withObject(`triggers-${field}`, JSON.stringify(file));
    expect((await instance.import({ [field]: source })).errors).toMatchObject([{ id: `${flowType}_1` }]);
  });

  it.each(['bucket-object.json.gz', 'converter-request-file.json', 'bom.json'])(
    'that has another form than plain JSON is imported: %s',
    async (name) => {
      const { instance, source } = await withObject(name, await report(name));
      const { errors, summary } = await instance.import({ data_orgs_gcs: source });
      expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1, humanUsers: 1 } });
    },
  );

  it('that is a saved error is rejected with a description of it', async () => {
    const { instance, source } = await withObject('error.json', await report('saved-error-body.json'));
    const { status, body } = await instance.refusedImport({ data_orgs_gcs: source });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        code: 3,
        message: expect.stringMatching(/^the file is a saved error response \("grpc: received message/),
      },
    });
  });

  it.each([
    ['empty', ''],
    ['truncated after its first byte', '{'],
    ['another file', '{"type":"service_account"}'],
  ])('that is %s is rejected', async (name, content) => {
    const { instance, source } = await withObject(name, content);
    expect(await instance.refusedImport({ data_orgs_gcs: source })).toMatchObject({ status: 400, body: { code: 3 } });
  });
});
