import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startLocalBucket } from '../support/emulators/localBucket.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { importInto, parseOk, post } from '../support/http/wire.ts';
import { describeDatabases } from '../support/instances/commandInstance.ts';
import { startAbused } from './support/abusedServer.ts';
import { drainExport, sendStream } from './support/requests.ts';
import { sizes } from './support/sizes.ts';

const VALUES = 495;
const VALUE = Buffer.alloc(480_000).toString('base64');

/** All requests that an instance admits at once. */
const exports = [{}, { with_keys: true }];
const imports = [{ dry_run: true }, {}].slice(0, sizes.imports);

/** An import of one organisation with values that take more than half of the heap. */
function* largeValues(): Generator<string> {
  const text = JSON.stringify(organisation('o', { humanUsers: [person('p')], userMetadata: [] }));
  yield `{"data_orgs":{"orgs":[${text.slice(0, -2)}`;
  for (let index = 0; index < VALUES; index++)
    yield `${index === 0 ? '' : ','}{"id":"p","key":"k${index}","value":"${VALUE}"}`;
  yield ']}]}}';
}

describeDatabases('495 values of 480 KB', (newDatabase) => {
  it('are imported and exported within the memory of a function', async () => {
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const server = await startAbused(await newDatabase(), { STORAGE_EMULATOR_HOST: bucket.url });
    const imported = await sendStream(server, '/admin/v1/import', largeValues());
    expect(imported.status, imported.text.slice(0, 1_000)).toBe(200);
    const key = await readFile(bucket.keyFile);
    const location = { bucket: 'exports', path: 'large.json', serviceaccount_json: key.toString('base64') };
    if (imports.length > 0) parseOk(await post(server, 'export', { gcs_output: location, excluded_org_ids: ['none'] }));
    const [exported, reports] = await Promise.all([
      Promise.all(exports.map((request) => drainExport(server, request))),
      Promise.all(imports.map((more) => importInto(server, { data_orgs_gcs: location, ...more }))),
    ]);
    for (const { bytes, end } of exported) {
      expect(bytes).toBeGreaterThan(VALUES * VALUE.length);
      expect(end).toContain(`"userMetadata":${VALUES}`);
    }
    for (const { summary } of reports) expect(summary.unchanged).toMatchObject({ userMetadata: VALUES });
    await server.expectSound();
  });
});
