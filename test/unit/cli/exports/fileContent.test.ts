import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { makeRepeatable, undisposed } from '../../../../cli/exports/fileContent.ts';
import { once } from '../../../../shared/async.ts';
import { createBodyStorage } from '../../../../shared/http/bodyStorage.ts';

it('a copy for which no space is left is an error that names its directory', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const storage = { ...createBodyStorage({}), append: () => Promise.reject(full) };
  const content = { isRepeatable: false, open: () => once(Buffer.from('{}')), ...undisposed };
  await expect(makeRepeatable(content, new AbortController().signal, storage)).rejects.toThrow(
    `no space left for a temporary file in ${tmpdir()}: free some, or set TMPDIR to another directory`,
  );
});
