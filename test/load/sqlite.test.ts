import { describe, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { testLoad } from './support/testLoad.ts';

describe('a server under mixed load on SQLite', () => {
  it('answers every request as asked, and neither grows nor leaves anything open', async (context) => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    await testLoad(context, 'SQLite', ['--data', path]);
  });
});
