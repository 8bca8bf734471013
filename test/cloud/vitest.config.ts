import { defineConfig } from 'vitest/config';
import { readCloud } from './deployment.ts';

const MINUTE_MS = 60_000;
const isAsked = readCloud(process.env) !== undefined;
if (!isAsked) process.stdout.write('skipped: CLOUD_PROJECT and CLOUD_DOMAIN are not set (docs/deploying.md)\n');

/** The tests of a deployment in Google Cloud, which the set-up creates and destroys: `npm run test:cloud`. */
export default defineConfig({
  test: {
    name: 'cloud',
    root: new URL('../../', import.meta.url).pathname,
    include: isAsked ? ['test/cloud/**/*.test.ts', 'test/acceptance/**/*.test.ts'] : [],
    passWithNoTests: !isAsked,
    globalSetup: isAsked ? ['test/cloud/setup.ts'] : [],
    // Some questions replace what the other tests use.
    fileParallelism: false,
    testTimeout: 20 * MINUTE_MS,
    hookTimeout: 20 * MINUTE_MS,
  },
});
