import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, run } from '../../tools/program.ts';
import type { BenchContext } from '../context.ts';
import { heapOptions } from '../tasks/runTask.ts';

/** A running `identity serve` with an empty instance, and the token of its owner. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
}

const identity = join(root, 'cli/identity.ts');
let started = 0;

/** Initialises an instance in an embedded database and serves it until it is disposed of. */
export async function startServer(bench: BenchContext, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const data = bench.path(`served-${started++}`);
  const tokenFile = `${data}.pat`;
  const { code, stderr } = await run(process.execPath, [identity, 'init', '--data', data, '--token-file', tokenFile]);
  if (code !== 0) throw new Error(`identity init failed: ${stderr}`);
  const token = (await readFile(tokenFile, 'utf8')).trim();
  return { ...(await serve(data, env)), token };
}

// The log goes to a file: reading it would occupy the client's processor.
async function serve(data: string, env: Readonly<Record<string, string>>): Promise<Omit<Server, 'token'>> {
  const logFile = `${data}.log`;
  await using log = await open(logFile, 'w');
  const child = spawn(process.execPath, [...heapOptions, identity, 'serve', '--data', data, '--port', '0'], {
    stdio: ['ignore', 'pipe', log.fd],
    env: { ...process.env, FIRESTORE_EMULATOR_HOST: undefined, ...env },
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  const endedEarly = exited.then(async () => {
    throw new Error(`identity serve ended: ${await readFile(logFile, 'utf8')}`);
  });
  if (child.stdout === null) throw new Error('the output of identity serve is not piped');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), endedEarly]);
  endedEarly.catch(() => process.off('exit', kill));
  return {
    url: String(line).replace('listening on ', ''),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await exited;
    },
  };
}
