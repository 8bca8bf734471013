import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requireFreeFile } from '../../../../cli/places/filePlace.ts';
import { testDirectory } from '../../../support/places/servedPlace.ts';

it('a new file is rejected as existing only if it exists', async () => {
  const file = join(await testDirectory(), 'north.json');
  await requireFreeFile(file);
  await writeFile(file, '');
  await expect(requireFreeFile(file)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(requireFreeFile(join(file, 'south.json'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});
