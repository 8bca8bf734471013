import { chown, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { storeNewToken } from '../../../shared/auth/tokenFile.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  directory = path;
  file = join(path, 'owner.pat');
});

const create = async () => ({ token: 'secret', tokenId: 'id' });
const mustNot = () => Promise.reject(new Error('a token was created'));
const isRoot = process.getuid?.() === 0;

describe('the file of a new token', () => {
  it('is a new one that only its owner can read, whatever it replaces', async () => {
    const other = join(directory, 'other');
    await writeFile(other, 'unchanged', { mode: 0o644 });
    await link(other, file);
    expect(await storeNewToken(file, create)).toEqual({ token: 'secret', tokenId: 'id' });
    expect(await readFile(file, 'utf8')).toBe('secret');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(other, 'utf8')).toBe('unchanged');
  });

  it.each([
    ['is a link', () => symlink(join(directory, 'elsewhere'), file)],
    ['is no file', () => mkdir(file)],
  ])('is refused before a token is created where it %s', async (problem, prepare) => {
    await prepare();
    await expect(storeNewToken(file, mustNot)).rejects.toThrow(`${file} ${problem}: specify a new file`);
    expect(await readdir(directory)).toEqual(['owner.pat']);
  });

  it.skipIf(!isRoot)('is refused where it belongs to another account', async () => {
    await writeFile(file, 'theirs');
    await chown(file, 65_534, 65_534);
    await expect(storeNewToken(file, mustNot)).rejects.toThrow(`${file} belongs to another account`);
    expect(await readFile(file, 'utf8')).toBe('theirs');
  });

  it('stays as it was where no token is created', async () => {
    await writeFile(file, 'earlier');
    await expect(storeNewToken(file, () => Promise.reject(new Error('no user')))).rejects.toThrow('no user');
    expect(await readFile(file, 'utf8')).toBe('earlier');
    expect(await readdir(directory)).toEqual(['owner.pat']);
  });
});
