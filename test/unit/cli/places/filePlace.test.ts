import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requireFreeFile } from '../../../../cli/places/filePlace.ts';
import { testDirectory } from '../../../support/places/servedPlace.ts';

it('a file is rejected because of its directory with the name of the directory', async () => {
  const directory = await testDirectory();
  const file = join(directory, 'file');
  await writeFile(file, '');
  const problem = (path: string) => requireFreeFile(path).catch((error: unknown) => String(error));
  const remedy = (path: string) => `correct the problem, or choose another directory for ${path}`;
  const [missing, below] = [join(directory, 'none', 'y.json'), join(file, 'y.json')];
  expect(await problem(missing)).toContain(
    `the directory ${join(directory, 'none')} does not exist: ${remedy(missing)}`,
  );
  expect(await problem(below)).toContain(`the directory ${file} is not a directory: ${remedy(below)}`);
  if (process.platform === 'linux')
    expect(await problem('/proc/sys/y.json')).toMatch(
      /the directory \/proc\/sys (does not permit this user to create files|is on a read-only file system|accepts no new files): /,
    );
});

it('a link takes a name, even if its target is missing', async () => {
  const link = join(await testDirectory(), 'report.html');
  await symlink('missing.html', link);
  await expect(requireFreeFile(link)).rejects.toMatchObject({ reason: 'BACKUP_EXISTS' });
});
