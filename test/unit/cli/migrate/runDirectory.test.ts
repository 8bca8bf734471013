import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  chooseRun,
  createRunDirectory,
  migrateCommand,
  readJson,
  writeJson,
} from '../../../../cli/migrate/runDirectory.ts';
import { testDirectory } from '../../../support/places/servedPlace.ts';

it('a run directory is accepted while another process replaces its files', async () => {
  const directory = await createRunDirectory(await testDirectory(), new Date());
  await writeJson(directory, 'state.json', {});
  let isWriting = true;
  const writing = (async () => {
    for (let count = 0; count < 100; count++) await writeJson(directory, 'state.json', { count });
    isWriting = false;
  })();
  let checks = 0;
  for (; isWriting; checks++) await chooseRun(directory);
  await writing;
  expect(checks).toBeGreaterThan(0);
});

it('a run directory of another version of the command is a usage error', async () => {
  const directory = await testDirectory();
  await writeJson(directory, 'state.json', { stage: 'planned' });
  await expect(readJson(directory, 'state.json', z.strictObject({ step: z.string() }))).rejects.toThrow(
    'state.json is of another version of this command: continue with that version, or migrate again with another --run-dir',
  );
});

it('a command on a migration quotes its run directory for a shell', () => {
  expect(migrateCommand('resume', '/srv/my run')).toBe("identity migrate resume --run-dir '/srv/my run'");
});
