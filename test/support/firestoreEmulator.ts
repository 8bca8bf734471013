import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { findEmulator } from './findEmulator.ts';
import { freePort } from './freePort.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The Firestore emulator's `host:port`; `null` where there is none. */
    firestoreEmulator: string | null;
  }
}

const MAIN_CLASS = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const START_TIMEOUT_MILLISECONDS = 60_000;

/**
 * Starts the official Firestore emulator for the tests, unless FIRESTORE_EMULATOR_HOST names one. Where there is none, the
 * tests that need it are skipped; with `CI=true` that is an error.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const address = process.env.FIRESTORE_EMULATOR_HOST;
  if (address !== undefined) return provide(project, address);
  const found = findEmulator();
  if ('missing' in found) return doWithout(project, found.missing);
  return start(project, found.java, found.jar);
}

function provide(project: TestProject, address: string | null) {
  project.provide('firestoreEmulator', address);
  return async () => {};
}

function doWithout(project: TestProject, reason: string) {
  if (process.env.CI === 'true') throw new Error(`the Firestore tests cannot run: ${reason}`);
  process.stderr.write(`The Firestore tests of project ${project.name} are skipped: ${reason}.\n`);
  return provide(project, null);
}

async function start(project: TestProject, java: string, jar: string) {
  const port = await freePort();
  const place = ['--host=127.0.0.1', `--port=${port}`];
  const emulator = spawn(java, ['-Xmx4g', '-Duser.language=en', '-cp', jar, MAIN_CLASS, 'start', ...place], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => void emulator.kill('SIGKILL');
  process.once('exit', kill);
  await untilItAnswers(emulator, `http://127.0.0.1:${port}/`);
  // Inherited by the workers and by the programs that tests start, and found by the next project's setup.
  process.env.FIRESTORE_EMULATOR_HOST = `127.0.0.1:${port}`;
  provide(project, `127.0.0.1:${port}`);
  return async () => {
    const exited = once(emulator, 'exit');
    kill();
    await exited;
    process.removeListener('exit', kill);
    delete process.env.FIRESTORE_EMULATOR_HOST;
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
