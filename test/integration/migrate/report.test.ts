import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

describe('the report of identity migrate', { timeout: 120_000 }, () => {
  it('is written with the result, and again when the finished migration is resumed', async () => {
    const { database, location } = await servedPlace(sqlite);
    const hostile = organisation('acme', { org: { name: '<script>alert(1)</script>' }, humanUsers: [person('ada')] });
    const migrating = await prepareMigration({ location });
    const from = ['--from', await exportFileWith(hostile), '--to', database, '--yes'];
    const result = await migrate([...from, '--report', 'report.html'], migrating);
    const path = join(migrating.cwd, 'report.html');
    const page = await readFile(path, 'utf8');
    expect(page).toContain('Done: 2 records are equal on both sides.');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('<script>');
    expect(page).toContain(result.source.digest);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeFile(path, 'damaged');
    expect(await identity(['migrate', 'resume'], migrating)).toMatchObject({ code: 0 });
    expect(await readFile(path, 'utf8')).toBe(page);
  });

  it('is found out to be impossible before anything is done', async () => {
    const { database, location } = await servedPlace(sqlite);
    const migrating = await prepareMigration({ location });
    const from = ['migrate', '--from', await exportFileWith(organisation('acme')), '--to', database, '--yes'];
    const path = join(migrating.cwd, 'report.html');
    await writeFile(path, 'of somebody else');
    const taken = await identity([...from, '--report', path], migrating);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringMatching(/^identity: .*report\.html exists/) });
    expect(await readFile(path, 'utf8')).toBe('of somebody else');
    const nowhere = await identity([...from, '--report', join(migrating.cwd, 'none', 'report.html')], migrating);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOENT') });
    const after = await identity(['export', database, '--to', '-', '--org', 'acme'], migrating);
    expect(after).toMatchObject({ code: 3, stderr: expect.stringContaining('not found, and not exported: acme') });
  });
});
