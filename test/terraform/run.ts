import { spawnSync } from 'node:child_process';
import { runMutations } from './mutations/run.ts';

// `npm run test:terraform [-- --mutations [--only TEXT] [--write] | FILTER …]`: runs the tests of the configuration, or
// finds out which mistakes they would notice.

const MUTATIONS = '--mutations';
const args = process.argv.slice(2);
if (args.includes(MUTATIONS)) await runMutations(args.filter((arg) => arg !== MUTATIONS));
else {
  const vitest = ['run.cjs', 'node_modules/vitest/vitest.mjs', 'run', '--project', 'terraform', ...args];
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1;
}
