import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startLocalBucket } from '../support/emulators/localBucket.ts';
import { splicedFile } from '../support/fixtures/splicedFile.ts';
import { expectError, importFile, postFile, send } from '../support/http/wire.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';

it('a file sets no option of the request that imports it', async (context) => {
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const server = await startAbusedSqlite({ STORAGE_EMULATOR_HOST: bucket.url });
  const key = await readFile(join(bucket.directory, 'keys', 'both.json'), 'base64');
  const options = { report_gcs: { bucket: 'exports', path: 'report.json', serviceaccount_json: key } };
  const objects = () => readdir(join(bucket.directory, 'storage'), { recursive: true });
  const before = await objects();
  const spliced = splicedFile(options);
  expectError(await postFile(server, '?dry_run=true', spliced), 400, 3);
  const request = { method: 'POST', path: '/admin/v1/import', token: server.token };
  expectError(await send(server, { ...request, body: `{"dry_run":true,"data_orgs":${spliced}}` }), 400, 3);
  const { summary } = await importFile(server, '', JSON.stringify({ ...options, orgs: [] }));
  expect(summary).not.toHaveProperty('report');
  expect(await objects()).toEqual(before);
  await server.expectSound(context, 'splicedFile');
});
