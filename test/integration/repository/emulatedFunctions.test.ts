import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { emptyEmulator } from '../../../tools/firestoreEmulator.ts';
import { freePort } from '../../../tools/freePort.ts';
import { root, run } from '../../../tools/program.ts';
import { readDocument, shownCommands } from '../../support/documents/documentation.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const PROJECT = 'documented-functions';
const emulator = inject('firestoreEmulator') ?? '';

/** Ends the functions that the commands have started, with all their processes. */
const ENDING = `trap 'trap "" TERM; kill 0; wait' EXIT`;

it.skipIf(emulator === '')('the documented commands start the three functions on the Firestore emulator', async () => {
  const commands = shownCommands(await readDocument('docs/deploying.md'));
  const shown = commands.find(({ notRun }) => notRun === 'needs the Firestore emulator')?.command ?? '';
  expect(shown.split('\n')).toHaveLength(4);
  const ports = new Map<string, number>();
  for (const port of ['8091', '8092', '8093']) ports.set(port, await freePort());
  const script = shown
    .replaceAll('127.0.0.1:8085', emulator)
    .replaceAll('demo-identity', PROJECT)
    .replace(/\b809[123]\b/g, (port) => String(ports.get(port)));
  const probes = [...ports.values()].map(
    (port) => `curl -sS --fail --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/ready`,
  );
  const clone = await temporaryDirectory();
  onTestFinished(() => clone.remove());
  onTestFinished(() => emptyEmulator(emulator, PROJECT));
  for (const entry of await readdir(root)) await symlink(join(root, entry), join(clone.path, entry));
  const { code, stdout, stderr } = await run(
    'setsid',
    ['--wait', 'bash', '-euc', [ENDING, script, ...probes].join('\n')],
    { cwd: clone.path },
  );
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`"manifest":{"version":1,"instance":"${PROJECT}"`);
});
