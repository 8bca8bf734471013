import { readFile } from 'node:fs/promises';
import { expect, onTestFinished } from 'vitest';
import { init, serve } from '../../support/instances/commandInstance.ts';
import type { Instance } from '../../support/instances/deployments.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** The heap of the smallest function in Google Cloud. */
const HEAP_MEGABYTES = 512;
/** The memory of a function with that heap. */
const MEMORY_BYTES = 2 ** 30;

/** A server process with the memory of a function. */
export interface AbusedServer extends Instance {
  readonly database: readonly string[];
  /** The token of its owner. */
  readonly userId: string;
  readonly pid: number;
  /** Resolves as soon as the output of the process contains `part`. */
  written(part: string): Promise<void>;
  /** Expects that the process still serves after an abuse, and that it stayed within its memory. */
  expectSound(): Promise<void>;
}

/** Starts `identity serve` on a new database, with its usual limits unless `env` sets them. It stops with the test. */
export async function startAbused(
  database: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<AbusedServer> {
  const { token, userId } = await init(database);
  const usual = { MAX_CONCURRENT_TRANSFERS: undefined };
  const NODE_OPTIONS = `--max-old-space-size=${HEAP_MEGABYTES}`;
  const running = await serve(database, [], { ...usual, ...env, NODE_OPTIONS });
  onTestFinished(async () => void (await running.stop('SIGKILL')));
  const url = running.ready[1] ?? '';
  return {
    url,
    token,
    userId,
    database,
    pid: running.pid,
    written: running.written,
    async expectSound() {
      // The places of connections that a test has just closed may not be free yet.
      await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
      expect(await peakOf(running.pid)).toBeLessThan(MEMORY_BYTES);
    },
  };
}

/** Starts a server on an embedded database, for abuses that do not reach the store. */
export async function startAbusedSqlite(env: Readonly<Record<string, string>> = {}): Promise<AbusedServer> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return startAbused(['--data', directory.path], env);
}

/** Returns the largest resident set that a process ever had, as the system recorded it. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(status) ?? [];
  if (kibibytes === undefined) throw new Error(`the system does not report the peak memory of ${pid}`);
  return Number(kibibytes) * 1024;
}
