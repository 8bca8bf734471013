import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root, startProgram } from '../../tools/program.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { importInto } from '../support/http/wire.ts';
import { caddyMissing, startCaddy } from '../support/processes/caddy.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { attacks } from './attack/attackTable.ts';
import { percentile, serviceOfOthers } from './attack/victims.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';
import { sizes } from './support/sizes.ts';

/** A new process takes longer for its first requests, attacked or not. */
const WARM_UP_MS = 2_000;
/** The memory that a process may keep after an attack. */
const REMAINDER_BYTES = 200_000_000;

if (caddyMissing !== undefined) process.stderr.write(`skipped behind Caddy: ${caddyMissing}\n`);

async function residentBytes(pid: number): Promise<number> {
  const [, kibibytes = ''] = /^VmRSS:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

describe.skipIf(caddyMissing !== undefined)('a removal behind Caddy', () => {
  it.each(attacks)('is never refused during an attack with $name', async ({ name }) => {
    const server = await startAbusedSqlite();
    const humanUsers = Array.from({ length: sizes.people }, (_, index) => person(`person${index}`));
    await importInto(server, { data_orgs: { orgs: [organisation('people', { humanUsers })] } });
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const caddy = await startCaddy(server.url, directory.path);
    onTestFinished(() => caddy.stop());
    const others = { url: caddy.url, token: server.token };
    await serviceOfOthers(others, WARM_UP_MS);
    const before = await residentBytes(server.pid);
    const script = `${root}test/abuse/attack/attacker.ts`;
    const attacker = await startProgram(process.execPath, [script, name, caddy.url, server.token], /attacking/);
    onTestFinished(async () => void (await attacker.stop('SIGKILL')));
    const service = await serviceOfOthers(others, sizes.attackMs);
    process.stderr.write(
      `${name}: ${service.requests} removals, 99 of 100 within ${Math.ceil(percentile(service, 0.99))} ms\n`,
    );
    expect(service.failed).toEqual([]);
    expect(service.requests).toBeGreaterThan(20);
    await attacker.stop('SIGKILL');
    await server.expectSound();
    await expect
      .poll(() => residentBytes(server.pid), { timeout: 120_000, interval: 1_000 })
      .toBeLessThan(before + REMAINDER_BYTES);
  });
});
