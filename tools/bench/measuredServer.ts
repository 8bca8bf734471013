import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import autocannon from 'autocannon';
import packageFile from '../../package.json' with { type: 'json' };
import { root, run, startProgram } from '../program.ts';
import { sampleId } from './sample.ts';

/** The heap options of `npm run identity`. The loops run with the same options. */
const heapOptions = packageFile.scripts.identity.split(' ').filter((word) => word.startsWith('--max-'));
const command = [...heapOptions, join(root, 'cli/identity.ts')];
export const rawLoops: readonly string[] = [...heapOptions, join(root, 'tools/bench/rawLoops.ts')];

export interface MeasuredPlace {
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of the token file and of the log file, without the extension. */
  readonly files: string;
}

export function placeInDirectory(directory: string): MeasuredPlace {
  return { options: ['--data', directory], env: { FIRESTORE_EMULATOR_HOST: undefined }, files: directory };
}

/** A running server to measure: `identity serve`, or the loop to which it is compared. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  /** The token of the instance's owner; empty for the loop, which checks no tokens. */
  readonly token: string;
  readonly pid: number;
}

export async function initialise({ options, env, files }: MeasuredPlace): Promise<void> {
  const args = [...command, 'init', ...options, '--token-file', `${files}.pat`];
  const { code, stderr } = await run(process.execPath, args, { env });
  if (code !== 0) throw new Error(`identity init failed: ${stderr}`);
}

export async function serveInstance({ options, env, files }: MeasuredPlace): Promise<Server> {
  const token = (await readFile(`${files}.pat`, 'utf8')).trim();
  return startServer([...command, 'serve', ...options, '--port', '0'], { token, files, env });
}

export function serveLoop(database: string): Promise<Server> {
  return startServer([...rawLoops, 'serve', database], { token: '', files: database, env: {} });
}

async function startServer(
  args: readonly string[],
  { token, files, env }: Pick<MeasuredPlace, 'files' | 'env'> & Pick<Server, 'token'>,
): Promise<Server> {
  // Write the log to a file, because reading it would take processor time from the client.
  await using log = await open(`${files}.log`, 'w');
  const running = await startProgram(process.execPath, args, /^listening on (\S+)\n/, { env, stderr: log.fd });
  return {
    url: running.ready[1] ?? '',
    token,
    pid: running.pid,
    [Symbol.asyncDispose]: async () => void (await running.stop()),
  };
}

/**
 * Sends an import or export.
 * @returns the milliseconds until the whole response has arrived, and the response's text
 * @throws Error if the call fails
 */
export async function post({ url, token }: Server, operation: 'import' | 'export', body: Buffer<ArrayBuffer> | string) {
  const begin = performance.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/admin/v1/${operation}`, { method: 'POST', headers, body });
  const text = await response.text();
  const milliseconds = performance.now() - begin;
  if (response.status !== 200) throw new Error(`${operation} returned ${response.status}: ${text.slice(0, 500)}`);
  return { milliseconds, text };
}

/**
 * Removes the factors of `amount` users.
 * @param next called for each request; returns the number of a user who was not returned before. autocannon may send no
 * request for some of these numbers
 * @returns removals per second
 * @throws Error if a removal fails
 */
export async function remove({ url, token }: Server, next: () => number, amount: number, connections: number) {
  const begin = performance.now();
  // Measure the duration here, because autocannon reports it only in whole seconds.
  let end = begin;
  const { '2xx': removed } = await autocannon({
    url,
    connections,
    amount,
    requests: [
      {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
        setupRequest: (request) => ({
          ...request,
          path: `/v2/users/${encodeURIComponent(sampleId(next()))}/otp_email`,
        }),
        onResponse: () => {
          end = performance.now();
        },
      },
    ],
  });
  if (removed !== amount) throw new Error(`${removed} of ${amount} removals succeeded`);
  return (removed / (end - begin)) * 1_000;
}

/** Returns the peak memory of a process in megabytes, as Linux counts it. */
export async function peakMegabytes({ pid }: Server): Promise<number> {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}
