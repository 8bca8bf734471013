import { expect, it } from 'vitest';
import { splicedFile } from '../support/fixtures/splicedFile.ts';
import { expectError, importFile, postFile, send } from '../support/http/wire.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';

it('a file sets no option of the request that imports it', async () => {
  const server = await startAbusedSqlite();
  const options = { dry_run: true };
  const spliced = splicedFile(options);
  expectError(await postFile(server, '?ids=true', spliced), 400, 3);
  const request = { method: 'POST', path: '/admin/v1/import', token: server.token };
  expectError(await send(server, { ...request, body: `{"ids":true,"data_orgs":${spliced}}` }), 400, 3);
  const { summary } = await importFile(server, '', JSON.stringify({ ...options, orgs: [] }));
  expect(summary).not.toHaveProperty('dryRun');
  await server.expectSound();
});
