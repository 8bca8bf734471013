import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';

const result = z.object({ rssGrowth: z.number() });
const program = join(import.meta.dirname, 'bucketMemory', 'transfer.ts');

it('a transfer needs less than 80 MB more memory for an object of 200 MiB than for one of 20 MiB', async () => {
  const local = await startLocalBucket();
  try {
    const key = local.keyFile;
    const env = { ...process.env, STORAGE_EMULATOR_HOST: local.url };
    const { stdout } = await promisify(execFile)(process.execPath, [program, key, '200'], { env });
    expect(result.parse(JSON.parse(stdout)).rssGrowth).toBeLessThan(80 * 1000 * 1000);
  } finally {
    await local.close();
  }
});
