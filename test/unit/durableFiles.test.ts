import { type FileHandle, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { completeFile, makeDirectory, moveFile } from '../../shared/durableFiles.ts';
import { watchDurability } from '../support/files/durability.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('node:fs', { spy: true });
vi.mock('node:fs/promises', { spy: true });

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
    ['new', 'link as file'],
    ['replacing', 'rename to file'],
  ] as const)('syncs the content before a %s file appears, and the directory afterwards', async (appearance, step) => {
    const listCalls = await watchDurability();
    await completeFile(target, 'text', appearance);
    expect(listCalls()).toEqual(['sync the content', step, `sync ${directory}`]);
    expect(await readFile(target, 'utf8')).toBe('text');
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('publishes no file before it is complete', async () => {
    await writeFile(target, 'earlier');
    await completeFile(
      target,
      async (file, path) => {
        await file.writeFile('later');
        expect((await stat(path)).mode & 0o777).toBe(0o600);
        expect(await readFile(target, 'utf8')).toBe('earlier');
      },
      'replacing',
    );
    expect(await readFile(target, 'utf8')).toBe('later');
  });

  it('neither writes to a file that has taken its partial name meanwhile, nor publishes that file', async () => {
    const other = join(directory, 'other');
    const content = async (file: FileHandle, path: string) => {
      await rename(path, other);
      await writeFile(path, '');
      await file.writeFile('secret');
    };
    await expect(completeFile(target, content, 'new')).rejects.toThrow(`others can change ${directory}`);
    expect(await readdir(directory)).toEqual(['other']);
    expect(await readFile(other, 'utf8')).toBe('secret');
  });

  it('does not replace a file if it must create a new one, even if that has appeared meanwhile', async () => {
    const content = () => writeFile(target, 'other');
    await expect(completeFile(target, content, 'new')).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(target, 'utf8')).toBe('other');
    expect(await readdir(directory)).toEqual(['file']);
  });

  it.each(['new', 'replacing'] as const)('leaves nothing behind when a %s file fails', async (appearance) => {
    const failure = new Error('no more');
    const content = () => Promise.reject(failure);
    await expect(completeFile(target, content, appearance)).rejects.toBe(failure);
    await expect(completeFile(target, (_, path) => rm(path), appearance)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(directory)).toEqual([]);
    await expect(completeFile(join(target, 'below'), '', appearance)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('allows two writers to complete the same file', async () => {
    const write = (text: string) => completeFile(target, text, 'replacing');
    await completeFile(
      target,
      () => write('first'),
      'replacing',
      (warning) => expect.fail(warning),
    );
    expect(await readdir(directory)).toEqual(['file']);
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
