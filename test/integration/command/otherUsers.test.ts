import { chmod, chown, lchown, mkdtemp, open, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../tools/program.ts';
import { call, identity, identityJson } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** The treatment of a file that the command believes. */
interface Treatment {
  /** Of a file of another user, or that others can write to. */
  readonly believed: 'refused' | 'a warning';
  /** Of a file that others can read. */
  readonly read: string;
}

/** Every kind of file that others could have planted. */
const fileTable = {
  token: { believed: 'refused', read: 'a warning' },
  accountKey: { believed: 'refused', read: 'a warning' },
  backup: { believed: 'refused', read: 'a warning' },
  backupKey: { believed: 'refused', read: 'a warning' },
  dataDirectory: { believed: 'refused', read: 'accepted' },
  database: { believed: 'refused', read: 'mended, with a line in the log' },
  masterKey: { believed: 'refused', read: 'mended, with a line in the log' },
  export: { believed: 'a warning', read: 'accepted' },
} as const satisfies Readonly<Record<string, Treatment>>;

type FileName = keyof typeof fileTable;

/** A call that believes a file. */
interface Call {
  readonly path: string;
  readonly args: readonly string[];
}

let directory: TemporaryDirectory;
let data = '';
let source = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
  data = join(directory.path, 'north');
  await identityJson(['init', '--data', data, '--token-file', join(directory.path, 'owner.pat')]);
  source = at('north.json');
  await writeFile(source, JSON.stringify({ orgs: [organisation('acme')] }));
  await writeFile(at('tls.crt'), await readFile('test/fixtures/tls/first.crt'), { mode: 0o600 });
  await writeFile(at('account.json'), '{}', { mode: 0o600 });
});
afterAll(() => directory.remove());

const at = (name: string) => join(directory.path, name);
const inspect = ['inspect', 'http://127.0.0.1:9'];
const list = () => ['org', 'list', '--data', data];

/** Backs the instance up, and returns a call that restores it. */
async function restoring(path: 'backup' | 'key'): Promise<Call> {
  const folder = await testDirectory();
  const [backup, key] = [join(folder, 'north.backup'), join(folder, 'north.key')];
  await identityJson(['backup', backup, '--data', data]);
  await writeFile(key, await readFile(join(data, 'master.key')), { mode: 0o600 });
  const args = ['restore', backup, '--data', join(folder, 'restored'), '--key', key];
  return { path: path === 'backup' ? backup : key, args };
}

/** What believes each kind of file. */
const calls: Readonly<Record<FileName, () => Promise<Call> | Call>> = {
  token: () => ({ path: at('owner.pat'), args: [...inspect, '--token-file', at('owner.pat')] }),
  accountKey: () => ({
    path: at('account.json'),
    args: ['inspect', 'gs://exports/north.json', '--credentials-file', at('account.json')],
  }),
  backup: () => restoring('backup'),
  backupKey: () => restoring('key'),
  dataDirectory: () => ({ path: data, args: list() }),
  database: () => ({ path: join(data, 'identity.sqlite'), args: list() }),
  masterKey: () => ({ path: join(data, 'master.key'), args: list() }),
  export: () => ({ path: source, args: ['inspect', source] }),
};

const names = Object.keys(fileTable).filter((name): name is FileName => name in fileTable);

/** Changes a file, calls the command, and changes it back. */
async function callWith({ path, args }: Call, change: () => Promise<void>) {
  const { mode } = await stat(path);
  await change();
  const result = await identity(args);
  const after = (await stat(path)).mode & 0o777;
  await chown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  await chmod(path, mode);
  return { ...result, mode: after };
}

describe.each(names)('what others could have written: %s', (name) => {
  const { believed, read } = fileTable[name];

  const expectOutcome = ({ code, stderr, stdout }: Awaited<ReturnType<typeof identity>>, problem: string) => {
    expect(stdout + stderr).toContain(problem);
    expect({ code, stdout: believed === 'refused' ? stdout : '' }).toEqual({
      code: believed === 'refused' ? 1 : 0,
      stdout: '',
    });
  };

  it('is rejected if others can write to it', async () => {
    const call = await calls[name]();
    for (const bit of [0o020, 0o002]) {
      const result = await callWith(call, async () => chmod(call.path, (await stat(call.path)).mode | bit));
      expectOutcome(result, `other users can change ${call.path}: run chmod go-w ${call.path}`);
    }
  });

  it.skipIf(!isRoot)('is rejected if it belongs to another user', async () => {
    const call = await calls[name]();
    const advice = 'run the command as that user, or change';
    const problem = `${call.path} belongs to another user: ${advice}`;
    expectOutcome(await callWith(call, () => chown(call.path, NOBODY, NOBODY)), problem);
  });

  it.skipIf(!isRoot)('is not believed behind a symbolic link of another user', async () => {
    const call = await calls[name]();
    for (const path of [call.path, dirname(call.path)]) {
      await rename(path, `${path}.real`);
      await symlink(`${path}.real`, path);
      await lchown(path, NOBODY, NOBODY);
      const result = await identity(call.args);
      await rm(path);
      await rename(`${path}.real`, path);
      expectOutcome(result, 'is a symbolic link, or its path contains a symbolic link: specify the real path');
    }
  });

  it(`is, where others can read it: ${read}`, async () => {
    const call = await calls[name]();
    const { stderr, mode } = await callWith(call, async () => chmod(call.path, (await stat(call.path)).mode | 0o044));
    const warned = stderr.includes(`other users can read ${call.path}: run chmod 600 ${call.path}`);
    expect({ warned, isMended: (mode & 0o044) === 0 }).toEqual({
      warned: read === 'a warning',
      isMended: read.startsWith('mended'),
    });
    expect(stderr.includes('other users could read a file')).toBe(read.includes('log'));
    expect(stderr).not.toContain('other users can change');
  });
});

it('a data directory that cannot be examined does not count as one without an instance', async () => {
  const link = join(await testDirectory(), 'link');
  await symlink(link, link);
  await call(`org list --data ${link}`, 1, 'ELOOP');
});

it.skipIf(!isRoot)('a named pipe of another user is not believed (skipped without root)', async () => {
  // Every user can write there.
  const folder = await mkdtemp('/dev/shm/identity-test-');
  onTestFinished(() => rm(folder, { recursive: true }));
  const pipe = join(folder, 'pipe.pat');
  await run('mkfifo', ['-m', '600', pipe]);
  await chown(pipe, NOBODY, NOBODY);
  const refused = { code: 1, stderr: expect.stringContaining(`${pipe} belongs to another user`) };
  const unwritten = await identity([...inspect, '--token-file', pipe]);
  expect({ code: unwritten.code, stderr: unwritten.stderr }).toEqual(refused);
  // Without a writer, no reader could open it.
  const writer = await open(pipe, 'r+');
  await writer.write(await readFile(at('owner.pat')));
  const { code, stderr } = await identity([...inspect, '--token-file', pipe]);
  await writer.close();
  expect({ code, stderr }).toEqual(refused);
});
