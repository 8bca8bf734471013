import { type FileHandle, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { completeFile, directoryProblem, makeDirectory, moveFile, replaceFile } from '../../shared/durableFiles.ts';
import { watchDurability } from '../support/files/durability.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock(import('node:fs'), async (importOriginal) => {
  const { spiedFs } = await import('../support/files/spiedFileSystem.ts');
  return spiedFs(await importOriginal());
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const { spiedFsPromises } = await import('../support/files/spiedFileSystem.ts');
  return spiedFsPromises(await importOriginal<typeof import('node:fs/promises')>());
});

let directory: string;
let target: string;

beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  directory = path;
  target = join(path, 'file');
});

describe('completeFile', () => {
  it.each([
    ['completeFile', completeFile, 'link as file'],
    ['replaceFile', replaceFile, 'rename to file'],
  ] as const)('%s syncs the content before the file appears, and the directory afterwards', async (_, write, step) => {
    const listCalls = await watchDurability();
    await write(target, 'text');
    expect(listCalls()).toEqual(['sync the content', step, `sync ${directory}`]);
    expect(await readFile(target, 'utf8')).toBe('text');
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('publishes no file before it is complete', async () => {
    await completeFile(target, async (file, path) => {
      await file.writeFile('text');
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await expect(stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
    });
    expect(await readFile(target, 'utf8')).toBe('text');
  });

  it('neither writes to a file that has taken its partial name meanwhile, nor publishes that file', async () => {
    const other = join(directory, 'other');
    const content = async (file: FileHandle, path: string) => {
      await rename(path, other);
      await writeFile(path, '');
      await file.writeFile('secret');
    };
    await expect(completeFile(target, content)).rejects.toThrow(`other users can change ${directory}`);
    expect(await readdir(directory)).toEqual(['other']);
    expect(await readFile(other, 'utf8')).toBe('secret');
  });

  it('does not replace a file that has appeared meanwhile', async () => {
    const content = () => writeFile(target, 'other');
    await expect(completeFile(target, content)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(target, 'utf8')).toBe('other');
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('leaves nothing behind when it fails', async () => {
    const failure = new Error('no more');
    const content = () => Promise.reject(failure);
    await expect(completeFile(target, content)).rejects.toBe(failure);
    await expect(completeFile(target, (_, path) => rm(path))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(directory)).toEqual([]);
    await expect(completeFile(join(target, 'below'), '')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('leaves the folder of another writer of the same file', async () => {
    const other = () => completeFile(target, 'first', (warning) => expect.fail(warning));
    await expect(completeFile(target, other)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readdir(directory)).toEqual(['file']);
    expect(await readFile(target, 'utf8')).toBe('first');
  });
});

describe('replaceFile', () => {
  it('replaces a file, and what a killed process left of its successor', async () => {
    await writeFile(target, 'earlier');
    await writeFile(`${target}.partial`, 'left by a killed process');
    await replaceFile(target, 'later');
    expect(await readFile(target, 'utf8')).toBe('later');
    expect(await readdir(directory)).toEqual(['file']);
  });
});

describe('directoryProblem', () => {
  it('leaves nothing in a directory that takes files', async () => {
    expect(await directoryProblem(directory)).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['ENOSPC', 'has no space left'],
    ['EROFS', 'is on a read-only file system'],
    ['ENOENT', 'accepts no new files'],
  ])('finds by a trial that a directory takes none because of %s', async (code, problem) => {
    vi.mocked(mkdtemp).mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    expect(await directoryProblem(directory)).toBe(problem);
  });
});

describe('moveFile', () => {
  it('syncs the directory after the move', async () => {
    const from = join(directory, 'draft');
    await writeFile(from, 'text');
    const listCalls = await watchDurability();
    await moveFile(from, target);
    expect(listCalls()).toEqual(['rename to file', `sync ${directory}`]);
    expect(await readdir(directory)).toEqual(['file']);
  });
});

describe('makeDirectory', () => {
  it('makes the names of all new directories durable', async () => {
    const listCalls = await watchDurability();
    makeDirectory(join(directory, 'a', 'b'));
    expect((await stat(join(directory, 'a', 'b'))).mode & 0o777).toBe(0o700);
    expect(listCalls()).toEqual([`sync ${join(directory, 'a')}`, `sync ${directory}`]);
  });

  it('leaves an existing directory unchanged', async () => {
    const listCalls = await watchDurability();
    makeDirectory(directory);
    expect(listCalls()).toEqual([]);
  });
});
