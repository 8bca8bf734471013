import { delimiter, dirname } from 'node:path';
import { buildGoProgram, hasGo } from './cachedPrograms.ts';
import { caddyMissing } from './caddy.ts';

const caddy = { name: 'caddy', version: 'v2.11.9', package: 'github.com/caddyserver/caddy/v2/cmd/caddy' };

/** Puts Caddy on the PATH of the tests. If Caddy is not installed and Go is, builds it. */
export default async function setup(): Promise<void> {
  if (caddyMissing === undefined || !(await hasGo())) return;
  process.env.PATH = [dirname(await buildGoProgram(caddy)), process.env.PATH].join(delimiter);
}
