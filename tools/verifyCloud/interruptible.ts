import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type Ended, root } from '../program.ts';
import type { Command } from './action.ts';

/**
 * Runs a program to its end. It is in a process group of its own, so that Ctrl-C reaches it only through the signal, once:
 * Terraform saves its state after the first interrupt, and gives up after the second.
 * @throws Error if the program cannot be started
 */
export async function runInterruptibly(command: Command, signal: AbortSignal): Promise<Ended> {
  signal.throwIfAborted();
  const env = { ...process.env, TF_IN_AUTOMATION: '1', ...(await readVariables(command.env)) };
  const child = spawn(command.program, command.args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part;
    });
  }
  const interrupt = () => {
    if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGINT');
  };
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    const [code] = await once(child, 'close');
    return { code: typeof code === 'number' ? code : null, ...text };
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** Reads the variables whose values are in files: a program's arguments are visible to every user of the machine. */
async function readVariables(variables: Command['env'] = {}): Promise<Record<string, string>> {
  const read = async (value: string) =>
    value.startsWith('@') ? (await readFile(value.slice(1), 'utf8')).trim() : value;
  const entries = Object.entries(variables).map(async ([name, value]) => [name, await read(value)] as const);
  return Object.fromEntries(await Promise.all(entries));
}
