import { expect, it } from 'vitest';
import { chooseRun, createRunDirectory, migrateCommand, writeJson } from '../../../../cli/migrate/runDirectory.ts';
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

it('a command on a migration quotes its run directory for a shell', () => {
  expect(migrateCommand('resume', '/srv/my run')).toBe("identity migrate resume --run-dir '/srv/my run'");
});
