import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type FoundEmulator, findEmulator } from './findEmulator.ts';
import { freePort } from './freePort.ts';

const MAIN_CLASS = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const START_TIMEOUT_MILLISECONDS = 60_000;

/** A running Firestore emulator at `address` (`host:port`). */
export interface Emulator extends AsyncDisposable {
  readonly address: string;
  /** Sends it a signal, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts the official Firestore emulator, or says why it cannot be had.
 * @param heap how much memory it may take at most, as Java says it: it keeps all documents there
 * @throws Error with the end of what it wrote, when it does not start
 */
export async function startEmulator(heap: string): Promise<Emulator | { readonly missing: string }> {
  const found = findEmulator();
  return 'missing' in found ? found : start(found, heap);
}

async function start({ java, jar }: Exclude<FoundEmulator, { missing: string }>, heap: string): Promise<Emulator> {
  const port = await freePort();
  const options = [`-Xmx${heap}`, '-Duser.language=en', '-cp', jar, MAIN_CLASS];
  const emulator = spawn(java, [...options, 'start', '--host=127.0.0.1', `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => void emulator.kill('SIGKILL');
  process.once('exit', kill);
  await untilItAnswers(emulator, `http://127.0.0.1:${port}/`);
  return {
    address: `127.0.0.1:${port}`,
    signal: (name) => void emulator.kill(name),
    [Symbol.asyncDispose]: async () => {
      const exited = once(emulator, 'exit');
      kill();
      await exited;
      process.removeListener('exit', kill);
    },
  };
}

async function untilItAnswers(emulator: ChildProcessByStdio<null, null, Readable>, url: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MILLISECONDS;
  let log = '';
  emulator.stderr.on('data', (text) => {
    log = `${log}${text}`.slice(-2_000);
  });
  const failed = once(emulator, 'error').then(([reason]) => Promise.reject(reason));
  while (performance.now() < deadline && emulator.exitCode === null) {
    const answered = fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    const pause = setTimeout(50, false);
    const ready = await Promise.race([answered, failed]);
    if (ready) return;
    await pause;
  }
  throw new Error(`the Firestore emulator did not start (exit code ${emulator.exitCode}):\n${log}`);
}
