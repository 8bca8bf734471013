import { expect, it } from 'vitest';
import { run } from '../../../tools/program.ts';

// In a process of its own, because other tests of this one have loaded the client.
const program = `
  import { registerHooks } from 'node:module';
  let loaded = 0;
  registerHooks({
    load(url, context, next) {
      if (url.includes('/@google-cloud/storage/')) loaded++;
      return next(url, context);
    },
  });
  const { openObjectStorage } = await import('./shared/objectStorage/openObjectStorage.ts');
  const { openTransfers } = await import('./shared/objectStorage/openTransfers.ts');
  const storage = openObjectStorage();
  openTransfers('transfers');
  const before = loaded;
  const location = { bucket: 'no bucket', path: 'path', account: { clientEmail: '', privateKey: '' } };
  const message = await storage.pin(location, new AbortController().signal).catch(({ message }) => message);
  console.log(JSON.stringify({ before, isLoaded: loaded > 0, message }));
`;

it('the client of Cloud Storage is loaded with the first object', async () => {
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ before: 0, isLoaded: true, message: expect.stringContaining('bucket') });
});
