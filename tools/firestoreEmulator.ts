import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { freePort } from './freePort.ts';

const JAR = 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar';
const MAIN_CLASS = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const START_TIMEOUT_MS = 60_000;
const BRIEF = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export interface Emulator extends AsyncDisposable {
  readonly address: string;
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts the official Firestore emulator. If the emulator is not installed, returns the reason instead.
 * @param heap the maximum size of the heap in Java's notation; all documents are in the heap
 * @param isBrief whether the emulator runs only for some minutes. Such a run is faster if Java compiles less and
 * collects garbage without concurrency
 * @throws Error with the end of the emulator's output, if the emulator does not start
 */
export async function startEmulator(heap: string, isBrief = false): Promise<Emulator | { readonly missing: string }> {
  const emulator = findEmulator();
  return 'missing' in emulator ? emulator : start(emulator, [`-Xmx${heap}`, ...(isBrief ? BRIEF : [])]);
}

async function start(
  { java, jar }: Exclude<FoundEmulator, { missing: string }>,
  limits: readonly string[],
): Promise<Emulator> {
  const port = await freePort();
  const options = [...limits, '-Duser.language=en', '-cp', jar, MAIN_CLASS];
  const emulator = spawn(java, [...options, 'start', '--host=127.0.0.1', `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => void emulator.kill('SIGKILL');
  process.once('exit', kill);
  await waitUntilReady(emulator, `http://127.0.0.1:${port}/`);
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

async function waitUntilReady(emulator: ChildProcessByStdio<null, null, Readable>, url: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let log = '';
  emulator.stderr.on('data', (text) => {
    log = `${log}${text}`.slice(-2_000);
  });
  const failed = once(emulator, 'error').then(([reason]) => Promise.reject(reason));
  while (performance.now() < deadline && emulator.exitCode === null) {
    const responded = fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    const pause = setTimeout(50, false);
    const ready = await Promise.race([responded, failed]);
    if (ready) return;
    await pause;
  }
  throw new Error(`the Firestore emulator did not start (exit code ${emulator.exitCode}):\n${log}`);
}

type FoundEmulator = { readonly java: string; readonly jar: string } | { readonly missing: string };

function findEmulator(): FoundEmulator {
  const jar = sdkRoots()
    .map((root) => join(root, JAR))
    .find((file) => existsSync(file));
  if (jar === undefined) {
    return { missing: 'the Google Cloud SDK with its component cloud-firestore-emulator is not installed' };
  }
  const java = findJavaHome() ?? onPath('java');
  return java === undefined ? { missing: 'Java is not installed' } : { java, jar };
}

function sdkRoots(): string[] {
  const { CLOUDSDK_ROOT, CLOUDSDK_ROOT_DIR } = process.env;
  const gcloud = onPath('gcloud');
  const gcloudRoot = gcloud === undefined ? undefined : dirname(dirname(realpathSync(gcloud)));
  const defaultRoots = ['/usr/lib/google-cloud-sdk', join(homedir(), 'google-cloud-sdk')];
  return [CLOUDSDK_ROOT, CLOUDSDK_ROOT_DIR, gcloudRoot, ...defaultRoots].filter((root) => root !== undefined);
}

function findJavaHome(): string | undefined {
  const { JAVA_HOME } = process.env;
  const java = join(JAVA_HOME ?? '', 'bin', 'java');
  return JAVA_HOME !== undefined && existsSync(java) ? java : undefined;
}

function onPath(program: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories.map((directory) => join(directory, program)).find((file) => existsSync(file));
}

/** Deletes all documents of a project, which the emulator would otherwise keep in memory until it ends. */
export async function emptyEmulator(address: string, projectId: string): Promise<void> {
  const url = `http://${address}/emulator/v1/projects/${projectId}/databases/(default)/documents`;
  const { ok, status } = await fetch(url, { method: 'DELETE' });
  if (!ok) throw new Error(`the emulator did not delete the documents: ${status}`);
}
