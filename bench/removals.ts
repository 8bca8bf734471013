import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { run } from '../tools/program.ts';
import { quantile, sendAll } from './keepAliveClient.ts';
import { ORGANISATION, sampleUser } from './sampleUsers.ts';

const identity = fileURLToPath(new URL('../cli/identity.ts', import.meta.url));
const BATCH = 5_000;

await using resources = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'identity-removals-'));
resources.defer(() => rm(directory, { recursive: true }));
const tokenFile = join(directory, 'owner.pat');
const data = join(directory, 'data');
await run(process.execPath, [identity, 'init', '--data', data, '--token-file', tokenFile]);
const token = (await (await import('node:fs/promises')).readFile(tokenFile, 'utf8')).trim();
const child = spawn(
  process.execPath,
  [...(process.env.SERVE_OPTIONS?.split(' ') ?? []), identity, 'serve', '--data', data, '--port', '0'],
  {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, MAX_IMPORTS: '10', MAX_EXPORTS: '10' },
  },
);
resources.defer(async () => {
  child.kill();
  await once(child, 'exit');
});
const [line] = await once(createInterface(child.stdout), 'line');
const url = String(line).split(' ').at(-1) ?? '';

function bodyOf(org: string, from: number, count: number) {
  const users = Array.from({ length: count }, (_, index) => ({ ...sampleUser(from + index), otpEmail: true }));
  const body = JSON.stringify({
    data_orgs: { orgs: [{ orgId: org, org: { name: `Acme ${org}` }, humanUsers: users }] },
  });
  return Buffer.from(body);
}
async function importUsers(org: string, from: number, count: number, body = bodyOf(org, from, count)) {
  const response = await fetch(`${url}/admin/v1/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (response.status !== 200 || text.includes('"errors"')) throw new Error(text.slice(0, 500));
}
let next = 0;
async function prepare(count: number) {
  const ids: string[] = [];
  for (let start = 0; start < count; start += BATCH) {
    const size = Math.min(BATCH, count - start);
    await importUsers(ORGANISATION, next, size);
    for (let index = 0; index < size; index++) ids.push(String(sampleUser(next + index).userId));
    next += size;
  }
  return ids.map(
    (id) => `DELETE /v2/users/${id}/otp_email HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
}
function report(name: string, answers: Awaited<ReturnType<typeof sendAll>>, seconds: number) {
  const bad = answers.filter(({ status }) => status !== 200).length;
  process.stdout.write(
    `${name}: ${Math.round(answers.length / seconds)}/s p50 ${quantile(answers, 0.5).toFixed(1)} p99 ${quantile(answers, 0.99).toFixed(1)} max ${quantile(answers, 1).toFixed(1)} bad ${bad}\n`,
  );
}
for (const [connections, count] of [
  [32, 3000],
  [1, 4000],
  [32, 20000],
  [128, 20000],
] as const) {
  const requests = await prepare(count);
  const begin = performance.now();
  const answers = await sendAll(url, requests, connections);
  report(`${connections} connections`, answers, (performance.now() - begin) / 1000);
}
if (process.argv.includes('--beside')) {
  const requests = await prepare(40000);
  for (let k = 0; k < 100000; k += 50000) await importUsers('340000000000000009', 1_000_000 + k, 50000);
  const bodies = [bodyOf('340000000000000002', 2_000_000, 100000), bodyOf('340000000000000003', 3_000_000, 100000)];
  const begin = performance.now();
  const work = Promise.all([
    importUsers('340000000000000002', 2_000_000, 100000, bodies[0]),
    importUsers('340000000000000003', 3_000_000, 100000, bodies[1]),
    ...[1, 2].map(async () => {
      for (let k = 0; k < 3; k++)
        await (
          await fetch(`${url}/admin/v1/export`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify({ org_ids: ['340000000000000009'], with_passwords: true, with_otp: true }),
          })
        ).arrayBuffer();
    }),
  ]).then(() => process.stdout.write(`bulk work took ${((performance.now() - begin) / 1000).toFixed(1)} s\n`));
  let done = false;
  void work.then(() => {
    done = true;
  });
  const it = requests[Symbol.iterator]();
  const gen = (function* () {
    for (const r of it) {
      if (done) return;
      yield r;
    }
  })();
  const paced = await sendAll(url, gen, 8);
  report('8 connections beside', paced, (performance.now() - begin) / 1000);
  await work;
}
