import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { initCommand } from '../../../cli/commands/init.ts';
import { openFile } from '../../../cli/places/filePlace.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { fileKeyring, keyFilePath } from '../../../shared/store/secrets/keyring.ts';
import { copyDatabase } from '../../../shared/store/sqlite/databaseFile.ts';
import { watchDurability } from '../../support/files/durability.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock(import('node:fs'), async (importOriginal) => {
  const { spiedFs } = await import('../../support/files/spiedFileSystem.ts');
  return spiedFs(await importOriginal());
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const { spiedFsPromises } = await import('../../support/files/spiedFileSystem.ts');
  return spiedFsPromises(await importOriginal<typeof import('node:fs/promises')>());
});

const { signal } = new AbortController();
let directory: string;

beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  directory = path;
});

/** Copies a new database, as a backup does. */
async function backUp(target: string): Promise<void> {
  await (await openStore({ kind: 'sqlite', directory })).close();
  const keyring = fileKeyring(keyFilePath(directory));
  await copyDatabase(join(directory, 'identity.sqlite'), target, { keyring, complete: async () => {} });
}

describe('a reported file', () => {
  it('is durable as a backup, with its name and that of its new directory', async () => {
    const listCalls = await watchDurability();
    const copies = join(directory, 'instance', 'copies');
    await backUp(join(copies, 'north.backup'));
    expect(listCalls().slice(-5)).toEqual([
      `sync ${join(directory, 'instance')}`,
      `sync ${directory}`,
      'sync the content',
      'link as north.backup',
      `sync ${copies}`,
    ]);
  });

  it('is durable as an export, with its name', async () => {
    const listCalls = await watchDurability();
    const content = Buffer.from('{"orgs":[]}');
    const file = join(directory, 'north.json');
    expect(await openFile(file, expect.fail).store(inPieces(content), signal)).toEqual({
      place: file,
      bytes: content.length,
    });
    expect(listCalls()).toEqual(['sync the content', 'link as north.json', `sync ${directory}`]);
  });

  it('is durable as the key file of a database, with its name', async () => {
    const listCalls = await watchDurability();
    const file = keyFilePath(directory);
    fileKeyring(file).add();
    expect(listCalls()).toEqual([`sync ${file}.partial`, 'rename to master.key', `sync ${directory}`]);
  });

  it('is durable as the token file of a new instance, with its name', async () => {
    const location = { kind: 'sqlite', directory } as const;
    const store = await openStore(location);
    onTestFinished(() => store.close());
    const file = join(directory, 'tokens');
    const listCalls = await watchDurability();
    const { stdin, stdout, stderr } = process;
    await initCommand.run({
      store,
      location,
      defaultName: 'north',
      print: async () => {},
      arguments: [],
      options: { name: undefined, expires: undefined, 'token-file': file, 'user-login-must-be-domain': false },
      environment: { DATA_DIR: directory },
      now: new Date(),
      signal,
      stdin,
      stdout,
      stderr,
    });
    expect(await readFile(file, 'utf8')).not.toBe('');
    expect(listCalls()).toEqual(['sync the content', 'link as tokens', `sync ${directory}`]);
  });
});
