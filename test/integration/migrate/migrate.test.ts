import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { describeStores, keyEnvironment } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const all = ['--with', 'passwords,otp,keys'];

describeStores('identity migrate', (kind) => {
  it('moves organisations between two instances, and proves it', { timeout: 120_000 }, async () => {
    const north = await servedPlace(kind);
    const south = await servedPlace(kind);
    const ada = person('ada', { hashedPassword: { value: HASH } });
    const file = await exportFileWith(
      organisation('acme', { humanUsers: [ada, person('bob')] }),
      organisation('emca', { humanUsers: [person('eve')] }),
    );
    const env = keyEnvironment(north.location);
    expect(await identity(['import', file, '--to', north.database], { env })).toMatchObject({ code: 0 });
    const migrating = await prepareMigration(north);
    const result = await migrate([...betweenServers(north, south), ...all, '--yes'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      source: { place: north.url, kind: 'instance', version: expect.any(String) },
      target: { place: south.url, digest: result.source.digest },
      leftOut: [{ orgId: north.orgId, reason: expect.stringContaining('default organisation') }],
      organisations: [
        { orgId: 'acme', people: 2, records: 3, before: { absent: 3 }, after: { equal: 3, absent: 0 } },
        { orgId: 'emca', people: 1, records: 2 },
      ],
      moved: { organisations: 2, records: 5, imported: { created: { org: 2, humanUsers: 3 }, failed: {} } },
      proof: {
        method: 'fields',
        unexpected: 0,
        expected: 0,
        sections: { humanUsers: { equal: 3 } },
        sourceUnchanged: true,
      },
      logins: { people: 3, withPassword: 1, ready: 1, formats: { bcrypt: 1 } },
    });
    expect(result.phases.map(({ phase, succeeded }) => `${phase} ${succeeded}`)).toContain('importing true');
    const [name = ''] = await readdir(migrating.cwd);
    const directory = join(migrating.cwd, name);
    expect(name).toMatch(/^identity-migration-\d{4}-/);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
    expect((await readdir(directory)).filter((one) => one.startsWith('export'))).toEqual([]);
    for (const one of await readdir(directory)) {
      const text = await readFile(join(directory, one), 'utf8');
      for (const secret of [HASH, north.token, south.token]) expect(text).not.toContain(secret);
    }
    const again = await migrate([...betweenServers(north, south), ...all, '--yes'], await prepareMigration(north));
    expect(again.moved.imported).toMatchObject({ created: {}, unchanged: { org: 2, humanUsers: 3 } });
    expect(again.organisations).toMatchObject([{ before: { equal: 3, absent: 0 } }, { before: { equal: 2 } }]);
  });
});
