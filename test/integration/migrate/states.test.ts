import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';

const withoutStates = () =>
  exportFileWith({ orgId: 'acme', org: { name: 'Acme' }, humanUsers: [person('ada'), person('bob')] });
const UNKNOWN =
  'unknown states: the file lacks states of records (organisations: 1, people: 2, service users: 0); each of these records is imported in the state active';

describe('a file without states', () => {
  it('is named in what inspect and import print', async () => {
    const file = await withoutStates();
    const { database, location } = await servedPlace(sqlite);
    const env = keyEnvironment(location);
    const inspected = await identity(['inspect', file]);
    const inspection = JSON.parse((await identity(['inspect', file, '--json'])).stdout.trim().split('\n').at(-1) ?? '');
    const imported = await identity(['import', file, '--to', database], { env });
    for (const { code, stdout } of [inspected, imported]) {
      expect(code).toBe(0);
      expect(stdout).toContain(UNKNOWN);
    }
    expect(inspection.unknownStates).toEqual({ organisations: 1, people: 2, serviceUsers: 0 });
    const message = expect.stringContaining(UNKNOWN);
    expect(inspection.warnings).toContainEqual(
      expect.objectContaining({ type: 'state', reason: 'states_unknown', message }),
    );
    const stated = await exportFileWith(
      organisation('acme', { humanUsers: [{ ...person('ada'), state: 'USER_STATE_ACTIVE' }] }),
    );
    expect((await identity(['inspect', stated])).stdout).not.toContain('unknown states');
  });

  it.each(['an instance', 'a file'])('is named in the plan and the result of a migration to %s', async (kind) => {
    const { database, location } = await servedPlace(sqlite);
    const migrating = await prepareMigration({ location });
    const to = kind === 'a file' ? join(await testDirectory(), 'copy.json') : database;
    const places = ['--from', await withoutStates(), '--to', to, '--with', 'none'];
    const call = ['migrate', ...places, '--yes', '--report', 'report.html'];
    const { code, stdout: result, stderr: plan } = await identity(call, migrating);
    expect(code).toBe(0);
    const page = await readFile(join(migrating.cwd, 'report.html'), 'utf8');
    for (const text of [plan, result, page]) expect(text).toContain(UNKNOWN);
  });
});
