import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { calling } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { type LoggedPlace, loggedPlace, servedPlace } from '../../support/places/servedPlace.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

// Modules that are loaded already have the function by its name.
const openFile = vi.spyOn(fs, 'createReadStream');
syncBuiltinESMExports();
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});
beforeEach(() => void openFile.mockClear());

const all = ['--with', 'passwords,otp,keys', '--yes'];

/** Returns how often a file was read. */
function readsOf(file: string): number {
  return openFile.mock.calls.filter(([path]) => path === file).length;
}

/** Returns the exports of a server. */
function exportsOf({ requests }: LoggedPlace): string[] {
  return requests().filter((request) => request === '/admin/v1/export 200');
}

describe('a migration', () => {
  it('into ZITADEL reads each side once before its import and once after it', async () => {
    const file = await exportFileWith(organisation('acme', { humanUsers: people(3) }));
    const { zitadel, tokenFile } = await filledZitadel([organisation('acme', { humanUsers: people(2) })]);
    const args = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all];
    const exportsSince = (start: number) =>
      zitadel.requests.slice(start).filter(({ path }) => path === '/zitadel.admin.v1.AdminService/ExportData').length;
    const result = await migrate(args, await prepareMigration(await servedPlace(sqlite)));
    expect(result.moved.imported).toMatchObject({ created: { humanUsers: 1 }, unchanged: { org: 1, humanUsers: 2 } });
    expect(readsOf(file)).toBe(2);
    // The import itself verifies the records that it has created.
    expect(exportsSince(0)).toBe(3);
    const start = zitadel.requests.length;
    const again = await migrate(args, await prepareMigration(await servedPlace(sqlite)));
    expect(again.moved.imported).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 3 } });
    expect(readsOf(file)).toBe(4);
    expect(exportsSince(start)).toBe(2);
  });

  it('between instances exports each side once before its import and once after it', async () => {
    const [north, south] = [await loggedPlace(sqlite), await loggedPlace(sqlite)];
    const file = await exportFileWith(organisation('acme', { humanUsers: people(3) }));
    const env = keyEnvironment(north.location);
    await calling({ env })(`import ${file} --to ${north.database}`, 0);
    await migrate([...betweenServers(north, south), ...all], await prepareMigration(north));
    // A further call of each side checks the token, and one lists the target's other organisations.
    await expect.poll(() => exportsOf(north)).toHaveLength(2 + 1);
    await expect.poll(() => exportsOf(south)).toHaveLength(2 + 2);
  });

  it('from a file reads it equally often if the file selects the secrets', async () => {
    const reads: number[] = [];
    for (const given of [['--with', 'all'], []]) {
      const file = await exportFileWith(organisation('acme', { humanUsers: people(3) }));
      const place = await servedPlace(sqlite);
      await migrate(['--from', file, '--to', place.database, ...given, '--yes'], await prepareMigration(place));
      reads.push(readsOf(file));
    }
    // Plan and proof read it once, the trial of the import and the import twice.
    expect(reads).toEqual([6, 6]);
  });

  it('names the people of its errors without another reading of the source', async () => {
    const { zitadel, tokenFile } = await filledZitadel([organisation('other', { humanUsers: people(2) })]);
    const file = await exportFileWith(organisation('acme', { humanUsers: people(3) }));
    const args = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all];
    const result = await migrate(args, await prepareMigration(await servedPlace(sqlite)), 3);
    expect(result.people).toHaveLength(2);
    expect(readsOf(file)).toBe(2);
  });
});
