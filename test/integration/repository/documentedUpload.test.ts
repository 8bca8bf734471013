import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { readDocument, shownCommands } from '../../support/documents/documentation.ts';
import { functionAccount } from '../../support/emulators/functionAccount.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

it('the documented commands upload a file with curl, import it and delete it', async () => {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.adopt(await temporaryDirectory(), (made) => made.remove());
  const data = join(path, 'data');
  await identity(['init', '--data', data, '--token-file', join(path, 'owner.pat')]);
  await writeFile(join(path, 'large.json'), JSON.stringify({ orgs: [organisation('acme')] }));
  const bucket = resources.adopt(await startLocalBucket(), (started) => started.close());
  const storage = { STORAGE_EMULATOR_HOST: bucket.url, TRANSFER_BUCKET: 'exports' };
  const env = { DATA_DIR: data, ...storage, ...functionAccount(bucket.url) };
  const { url } = resources.adopt(await startFunction('import', env), async (running) => void (await running.stop()));

  const commands = shownCommands(await readDocument('docs/clients.md'));
  const { command = '' } = commands.find(({ command: shown }) => shown.includes('upload')) ?? {};
  const script = command.replaceAll('https://north.example.com', url);
  const { code, stdout, stderr } = await run('bash', ['-euc', script], { cwd: path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('"createdOrgs":["acme"]');
  expect(stdout).toMatch(/\{\}$/);
});
