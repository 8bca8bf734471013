import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { type FoundEmulator, findEmulator } from '../test/support/findEmulator.ts';
import { freePort } from '../test/support/freePort.ts';

const MAIN_CLASS = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const START_TIMEOUT_MILLISECONDS = 60_000;

/** A running Firestore emulator at `address` (`host:port`). */
export interface Emulator extends AsyncDisposable {
  readonly address: string;
  /** Takes away all documents of a project: the emulator keeps them in memory. */
  empty(projectId: string): Promise<void>;
}

/** Starts the official Firestore emulator, or says why it cannot be had. */
export async function startEmulator(): Promise<Emulator | { readonly missing: string }> {
  const found = findEmulator();
  return 'missing' in found ? found : start(found);
}

async function start({ java, jar }: Exclude<FoundEmulator, { missing: string }>): Promise<Emulator> {
  const address = `127.0.0.1:${await freePort()}`;
  const [host, port] = address.split(':');
  const options = ['-Xmx6g', '-Duser.language=en', '-cp', jar, MAIN_CLASS];
  const emulator = spawn(java, [...options, 'start', `--host=${host}`, `--port=${port}`], { stdio: 'ignore' });
  const stop = () => void emulator.kill('SIGKILL');
  process.once('exit', stop);
  await untilItAnswers(`http://${address}/`, () => emulator.exitCode === null);
  return {
    address,
    empty: async (projectId) => {
      const url = `http://${address}/emulator/v1/projects/${projectId}/databases/(default)/documents`;
      const { ok, status } = await fetch(url, { method: 'DELETE' });
      if (!ok) throw new Error(`the emulator could not be emptied: ${status}`);
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(emulator, 'exit');
      stop();
      await exited;
      process.removeListener('exit', stop);
    },
  };
}

async function untilItAnswers(url: string, isRunning: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + START_TIMEOUT_MILLISECONDS;
  while (isRunning() && performance.now() < giveUpAt) {
    const answered = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    await setTimeout(50);
  }
  throw new Error('the Firestore emulator did not start');
}
