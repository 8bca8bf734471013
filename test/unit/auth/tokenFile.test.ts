import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
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

describe('the file of a new token', () => {
  it('is created anew, readable by its owner only', async () => {
    expect(await storeNewToken(file, create)).toEqual({ token: 'secret', tokenId: 'id' });
    expect(await readFile(file, 'utf8')).toBe('secret');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["the caller's file", () => writeFile(file, 'earlier')],
    ['a link', () => symlink(join(directory, 'elsewhere'), file)],
    ['a directory', () => mkdir(file)],
  ])('is rejected before a token is created if its name is that of %s', async (_, prepare) => {
    await prepare();
    await expect(storeNewToken(file, mustNot)).rejects.toThrow(`${file} exists: specify a new file for the token`);
    expect(await readdir(directory)).toEqual(['owner.pat']);
  });

  it('does not replace a file that appears while the token is created', async () => {
    const slowly = () => writeFile(file, 'theirs').then(create);
    await expect(storeNewToken(file, slowly)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(file, 'utf8')).toBe('theirs');
    expect(await readdir(directory)).toEqual(['owner.pat']);
  });

  it('does not exist if no token is created', async () => {
    await expect(storeNewToken(file, () => Promise.reject(new Error('no user')))).rejects.toThrow('no user');
    expect(await readdir(directory)).toEqual([]);
  });
});
