import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const never = new AbortController().signal;

/** Starts a proxy to Cloud Storage that lists the paths of the objects whose bytes are requested. */
async function countDownloads(target: string): Promise<{ url: string; downloads: string[] }> {
  const downloads: string[] = [];
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '' } = incoming;
    const { pathname, searchParams } = new URL(url, target);
    if (method === 'GET' && searchParams.get('alt') === 'media') downloads.push(pathname);
    const outgoing = forward(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const { port } = z.custom<AddressInfo>().parse(proxy.address());
  return { url: `http://127.0.0.1:${port}`, downloads };
}

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

  it.each([
    ['once if it fits into the memory for bodies', undefined, 1],
    ['to be inspected, and for each phase, if it does not', 4_000, 4],
  ])('is downloaded %s', async (_when, bufferedBytes, expected) => {
    const ids = Array.from({ length: 200 }, (_, index) => `P${index}`);
    const file = {
      orgs: [
        organisation('O', {
          humanUsers: ids.map((id) => person(id)),
          userMetadata: ids.map((id) => ({ id, key: 'number', value: 'eA==' })),
          projects: [{ projectId: 'P', project: { name: 'P' } }],
          userGrants: [],
        }),
      ],
    };
    const { source } = await withObject(`downloads-${expected}`, JSON.stringify(file));
    const { url, downloads } = await countDownloads(local.url);
    const instance = await testInstance(await openTestStore(sqlite), 'target', {
      objectStorage: createCloudStorage(url),
      limits: bufferedBytes === undefined ? {} : { bufferedBytes },
    });
    const { summary } = await instance.import({ data_orgs_gcs: source });
    expect(summary.created).toEqual({ org: 1, humanUsers: 200, userMetadata: 200, projects: 1 });
    expect(downloads).toHaveLength(expected);
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
