import { Buffer } from 'node:buffer';
import { startStorage } from '../../local/storage/server.ts';
import { createServiceAccount } from '../../local/storage/serviceAccountKey.ts';
import { exportUsers, importUsers, inlineImport } from '../clients/operations.ts';
import { startServer } from '../clients/server.ts';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { ORGANISATION } from '../tasks/sample.ts';

const BUCKET = 'exports';

/** Exports and imports through a bucket of the local stand-in, and in the response and request. */
export const bucket: Scenario = {
  prepare: async (bench) => {
    const { url, json } = await startBucket(bench);
    const inline = inlineImport({ users: bench.users });
    let objects = 0;
    return async () => {
      const key = Buffer.from(json).toString('base64');
      const place = { bucket: BUCKET, path: `${objects++}.json`, serviceaccount_json: key };
      return measureBucket(bench, url, inline, place);
    };
  },
};

async function measureBucket(
  bench: BenchContext,
  storageUrl: string,
  inline: Buffer<ArrayBuffer>,
  place: Readonly<Record<string, string>>,
): Promise<Figures> {
  const { users } = bench;
  const serve = () => startServer(bench, { STORAGE_EMULATOR_HOST: storageUrl });
  await using source = await serve();
  await using target = await serve();
  const importInline = await importUsers(source, inline, users);
  const exportInline = await exportUsers(source, { org_ids: [ORGANISATION], response_output: true });
  const exportBucket = await exportUsers(source, { org_ids: [ORGANISATION], gcs_output: place });
  const importBucket = await importUsers(target, JSON.stringify({ timeout: '10m', data_orgs_gcs: place }), users);
  return { importRatio: importInline / importBucket, exportRatio: exportInline / exportBucket };
}

// The stand-in shares the process of the client, which waits meanwhile.
async function startBucket(bench: BenchContext): Promise<{ url: string; json: string }> {
  const account = await createServiceAccount({ file: bench.path('bucket.key.json'), name: 'bench' });
  const storage = await startStorage({
    directory: bench.path('bucket'),
    port: 0,
    account,
    bucket: BUCKET,
  });
  bench.resources.defer(() => storage.close());
  return { url: storage.url, json: account.json };
}
