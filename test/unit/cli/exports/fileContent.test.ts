import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeRepeatable, requireTemporaryDirectory, undisposed } from '../../../../cli/exports/fileContent.ts';
import { once } from '../../../../shared/async.ts';
import { createBodyStorage } from '../../../../shared/http/bodyStorage.ts';
import { testDirectory } from '../../../support/places/servedPlace.ts';

it('a copy for which no space is left is an error that names its directory', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const storage = { ...createBodyStorage({}), append: () => Promise.reject(full) };
  const content = { isRepeatable: false, open: () => once(Buffer.from('{}')), ...undisposed };
  await expect(makeRepeatable(content, new AbortController().signal, storage)).rejects.toThrow(
    `no space left for a temporary file in ${tmpdir()}: free some space, or set TMPDIR to another directory`,
  );
});

it.each([
  ['a directory that does not exist', 'none', 'does not exist'],
  ['a file', 'file', 'is not a directory'],
])('TMPDIR is reported if it is %s', async (_, name, problem) => {
  const directory = await testDirectory();
  await writeFile(join(directory, 'file'), '');
  const path = join(directory, name);
  vi.stubEnv('TMPDIR', path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const text = `the directory for temporary files, ${path}, ${problem}: correct the problem, or set TMPDIR to another directory`;
  await expect(requireTemporaryDirectory()).rejects.toThrow(text);
  const content = { isRepeatable: false, open: () => once(Buffer.alloc(1)), ...undisposed };
  const storage = createBodyStorage({ memoryBytes: 0 });
  await expect(makeRepeatable(content, new AbortController().signal, storage)).rejects.toThrow(text);
});
