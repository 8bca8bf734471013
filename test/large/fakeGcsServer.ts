import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../tools/freePort.ts';
import { buildGoProgram, cachedPath, hasGo } from '../support/processes/cachedPrograms.ts';

/** A third-party implementation of the Cloud Storage API. It checks no credentials. */
const fakeGcsServer = { name: 'fake-gcs-server', version: 'v1.56.1', package: 'github.com/fsouza/fake-gcs-server' };

/** The reason why fake-gcs-server is not available on this machine; undefined if it is. With CI=true that is an error. */
export async function whyNoFakeGcsServer(): Promise<string | undefined> {
  if (existsSync(cachedPath(fakeGcsServer)) || (await hasGo())) return undefined;
  const reason = 'fake-gcs-server is not built, and go, which builds it, is not installed';
  if (process.env.CI === 'true') throw new Error(reason);
  process.stderr.write(`skipped: ${reason}\n`);
  return reason;
}

/** Starts fake-gcs-server with one bucket, in memory. The first start builds it, which takes about a minute. */
export async function startFakeGcsServer(bucket: string): Promise<{ url: string; close(): Promise<void> }> {
  const program = await buildGoProgram(fakeGcsServer);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = { scheme: 'http', host: '127.0.0.1', port, 'public-host': `127.0.0.1:${port}`, 'external-url': url };
  const args = Object.entries({ ...flags, backend: 'memory', 'log-level': 'error' }).flatMap(([k, v]) => [
    `-${k}`,
    `${v}`,
  ]);
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await createBucket(url, bucket, () => server.exitCode === null);
  return {
    url,
    close: async () => {
      server.kill();
      await exited;
    },
  };
}

async function createBucket(url: string, name: string, isRunning: () => boolean): Promise<void> {
  const body = JSON.stringify({ name });
  for (;;) {
    if (!isRunning()) throw new Error('fake-gcs-server has ended');
    const answer = await fetch(`${url}/storage/v1/b?project=test`, { method: 'POST', body }).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(20);
  }
}
