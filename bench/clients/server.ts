import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run, startProgram } from '../../tools/program.ts';
import type { BenchContext } from '../context.ts';
import { heapOptions } from '../tasks/task.ts';

/** A running `identity serve` with an empty instance, and the token of its owner. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly token: string;
}

let started = 0;

/**
 * Initialises an instance in an embedded database and serves it until it is disposed of.
 * @param tree the files of the version that serves; by default this one's
 */
export async function startServer(
  bench: BenchContext,
  given: Readonly<Record<string, string>> = {},
  tree: string = root,
): Promise<Server> {
  const identity = join(tree, 'cli/identity.ts');
  const data = bench.path(`served-${started++}`);
  const tokenFile = `${data}.pat`;
  const { code, stderr } = await run(process.execPath, [identity, 'init', '--data', data, '--token-file', tokenFile]);
  if (code !== 0) throw new Error(`identity init failed: ${stderr}`);
  // The log goes to a file: reading it would occupy the client's processor.
  await using log = await open(`${data}.log`, 'w');
  const options = { env: { FIRESTORE_EMULATOR_HOST: undefined, ...given }, stderr: log.fd };
  const args = [...heapOptions, identity, 'serve', '--data', data, '--port', '0'];
  const running = await startProgram(process.execPath, args, /^listening on (\S+)\n/, options);
  return {
    url: running.ready[1] ?? '',
    pid: running.pid,
    token: (await readFile(tokenFile, 'utf8')).trim(),
    [Symbol.asyncDispose]: async () => void (await running.stop()),
  };
}
