import { parseArgs } from 'node:util';
import { findObstacles, renderObstacles } from './preflight/preflight.ts';
import { run } from './program.ts';

const { values } = parseArgs({ options: { project: { type: 'string' } } });
const { project } = values;
if (project === undefined || !/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(project)) {
  process.stderr.write('name the project: npm run preflight -- --project acme-identity\n');
  process.exit(64);
}
try {
  const obstacles = await findObstacles(project, (args) => run('gcloud', args));
  process.stdout.write(renderObstacles(project, obstacles));
  if (obstacles.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
