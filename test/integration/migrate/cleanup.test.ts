import { existsSync } from 'node:fs';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import { run } from '../../../tools/program.ts';
import { identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const acme = organisation('acme');

async function newRunDirectory() {
  return join(await testDirectory(), 'run');
}

describe('identity migrate cleanup', () => {
  it('follows a migration that lists last what only a person can do, deletes nothing else, and keeps the result', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await identity(['import', await exportFileWith(acme), '--to', north.database]);
    const directory = await newRunDirectory();
    const places = betweenServers(north, south);
    const { env, cwd } = await prepareMigration(north);
    const migrate = ['migrate', ...places, '--with', 'none', '--run-dir', directory, '--yes'];
    const migrated = await identity(migrate, { env, cwd });
    expect(migrated.code, migrated.stderr).toBe(0);
    const revocation = (url: string) =>
      `revoke the token for ${url} if it was created for the migration, with the database of that instance:\n {2}identity pat revoke [0-9a-f]{32} --data DIR`;
    const deletion = (file: string) => `delete ${file}, unless something else needs the secret in it:\n {2}rm ${file}`;
    const steps = [revocation(north.url), revocation(south.url), deletion(north.tokenFile), deletion(south.tokenFile)];
    expect(migrated.stdout).toMatch(new RegExp(`\n\nBy hand\n {2}${steps.join('\n {2}')}\n$`));
    expect(migrated.stdout).not.toContain(north.token);
    const cleanup = ['migrate', 'cleanup', '--run-dir', directory];
    // Nothing is left to delete, so there is no question.
    const { code, stdout, stderr } = await identity(cleanup);
    expect(code, stderr).toBe(0);
    const report = `identity migrate report --run-dir ${directory} --to FILE.html`;
    expect(stdout).toBe(`kept: the result in ${directory}, without export and secrets; as a page:\n${report}\n`);
    expect(await identityJson(cleanup)).toMatchObject({ removed: false, byHand: [] });
    const page = join(directory, '..', 'report.html');
    const reported = await identity(['migrate', 'report', '--run-dir', directory, '--to', page]);
    expect(reported.stdout).toBe(`the report of ${directory} is in ${page}\n`);
    expect(await readFile(page, 'utf8')).toContain('equal on both sides');
  });

  it('prints one command for each user that prepare has created, as the migration does at its end', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await identity(['import', await exportFileWith(acme), '--to', north.database]);
    const prepare = async ({ location }: typeof north, ...only: string[]) => {
      const tokenFile = join(await testDirectory(), 'migration.pat');
      const args = ['migrate', 'prepare', '--token-file', tokenFile, ...only, ...databaseOptions(location)];
      const { code, stdout, stderr } = await identity(args);
      expect(code, stderr).toBe(0);
      const [userId = ''] = /migration-\d{18}/.exec(stdout) ?? [];
      expect(stdout).toContain(`identity service-user delete ${userId} ${databaseOptions(location).join(' ')}`);
      return { tokenFile, userId };
    };
    const only = ['--only', 'import', '--token-file', '/nonexistent/south.pat', ...databaseOptions(south.location)];
    expect(await identity(['migrate', 'prepare', ...only])).toMatchObject({ code: 64 });
    const [source, target] = [await prepare(north, '--only', 'export'), await prepare(south)];
    const directory = await newRunDirectory();
    const places = betweenServers({ ...north, ...source }, { ...south, ...target });
    const call = ['migrate', ...places, '--with', 'none', '--run-dir', directory, '--yes'];
    const migrated = await identity(call, await prepareMigration(north));
    expect(migrated.code, migrated.stderr).toBe(0);
    // The places are not called.
    await rename(source.tokenFile, `${source.tokenFile}.away`);
    const { code, stdout, stderr } = await identity(['migrate', 'cleanup', '--run-dir', directory, '--yes']);
    await rename(`${source.tokenFile}.away`, source.tokenFile);
    const first = `^cleaning up the migration from ${north.url} to ${south.url}, started at .*: ${directory}\n`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(new RegExp(first)) });
    for (const [served, { userId, tokenFile }] of [
      [north, source],
      [south, target],
    ] as const) {
      const command = `service-user delete ${userId}`;
      const what = `delete the service user of identity migrate prepare on ${served.url}, with the database of that instance`;
      const step = `\n  ${what}:\n  identity ${command} --data DIR\n`;
      for (const text of [migrated.stdout, stdout]) expect(text).toContain(step);
      const undone = await identity([...command.split(' '), ...databaseOptions(served.location)]);
      expect(undone.code, undone.stderr).toBe(0);
      const refused = await identity(['inspect', served.url, '--token-file', tokenFile]);
      expect(refused.stderr).toContain('rejects the token of --token-file');
    }
  });

  it('follows a preparation that prints the steps for a ZITADEL, and creates nothing for any other place', async () => {
    const prepare = ['migrate', 'prepare', '--token-file', '/nonexistent/zitadel.pat'];
    const { code, stdout } = await identity([...prepare, 'https://zitadel.example.com']);
    expect(code).toBe(0);
    expect(stdout).toContain('Service Users, New: a user in the default organisation');
    expect(stdout).toContain(
      'identity migrate plan --from https://zitadel.example.com --from-token-file /nonexistent/zitadel.pat …',
    );
    const both = await identity([...prepare, 'https://zitadel.example.com', '--data', 'north']);
    expect(both).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('an address, --data and --firestore are mutually exclusive'),
    });
    const file = await identity([...prepare, 'north.json']);
    expect(file).toMatchObject({ code: 64, stderr: expect.stringContaining('north.json is not an address') });
  });

  it('warns that records of an interrupted import stay in the target', async () => {
    const { database, location } = await servedPlace(sqlite);
    const migrating = await prepareMigration({ location });
    const to = ['--to', database, '--with', 'none', '--run-dir', 'run'];
    expect(await identity(['migrate', 'plan', '--from', await exportFileWith(acme), ...to], migrating)).toMatchObject({
      code: 0,
    });
    const file = join(migrating.cwd, 'run', 'state.json');
    const state = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...state, confirmedAt: new Date().toISOString() }));
    const { code, stdout } = await identity(['migrate', 'cleanup', '--run-dir', 'run', '--yes'], migrating);
    const stays = `\n\nBy hand\n  delete the organisations imported into ${database}, if they should not stay\n`;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(stays) });
  });

  it('has no report of a migration before its end', async () => {
    const { directory } = await planned();
    const { code, stderr } = await identity(['migrate', 'report', '--run-dir', directory, '--to', 'report.html']);
    const problem = `the migration in ${directory} has no result yet: continue with identity migrate resume`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) });
  });

  it('removes an object that was read, and can be repeated if the key is rejected', async () => {
    const south = await servedPlace(sqlite);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const key = ['--credentials-file', bucket.keyFile];
    const unknown = join(await testDirectory(), 'unknown.json');
    await createServiceAccount({ file: unknown, name: 'unknown' });
    const object = 'gs://exports/orgs.json';
    const file = await exportFileWith(acme);
    expect((await identity(['export', file, '--to', object, ...key], { env })).code).toBe(0);
    const directory = await newRunDirectory();
    const args = ['--from', object, '--to', south.database, '--with', 'none', '--run-dir', directory, ...key, '--yes'];
    await migrate(args, { env, cwd: await testDirectory() });
    const cleanup = ['migrate', 'cleanup', '--run-dir', directory, '--yes'];
    const asked = await identity(cleanup.slice(0, -1), { env });
    expect(asked.stdout.split(object)).toHaveLength(2);
    const refused = await identity([...cleanup, '--credentials-file', unknown], { env });
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain(
      `failed: the object ${object}: ${object}: Cloud Storage rejected the service account's key: create a new key\n\nBy hand\n  delete the object ${object}:\n  gcloud storage rm '${object}'\n`,
    );
    const interrupted = await newRunDirectory();
    await cp(directory, interrupted, { recursive: true });
    const removed = await identity(cleanup, { env });
    expect(removed.code, removed.stderr).toBe(0);
    expect(removed.stdout).toContain(`deleted: the object ${object}\nkept: the result in ${directory}`);
    const after = await identity(['inspect', object, ...key], { env });
    expect(after.stderr).toContain('not found');
    // As an interruption between the object's removal and the directory's leaves it.
    const again = ['migrate', 'cleanup', '--run-dir', interrupted, '--yes'];
    expect((await identity(again, { env })).code).toBe(0);
    expect(existsSync(join(interrupted, 'result.json'))).toBe(true);
  });

  /** Plans a migration from a ZITADEL, and returns what cleans it up. */
  async function planned(given: Parameters<typeof filledZitadel>[1] = {}) {
    const { zitadel, tokenFile } = await filledZitadel([acme], given);
    const directory = await newRunDirectory();
    const places = ['--from', zitadel.url, '--from-token-file', tokenFile, '--to', join(directory, '..', 'acme.json')];
    const { code, stderr } = await identity(['migrate', 'plan', ...places, '--with', 'none', '--run-dir', directory]);
    expect(code, stderr).toBe(0);
    return { zitadel, tokenFile, directory, args: ['migrate', 'cleanup', '--run-dir', directory] };
  }

  it('deletes the run directory of a migration given up, and nothing on its places', async () => {
    const { zitadel, directory, args } = await planned();
    const requests = zitadel.requests.length;
    const { code, stdout } = await identity([...args, '--yes']);
    expect(stdout).toMatch(new RegExp(`^deleted: the run directory ${directory}\n\nBy hand\n`));
    expect({ code, requests: zitadel.requests.length }).toEqual({ code: 0, requests });
    expect(existsSync(directory)).toBe(false);
  });

  it('prints no command for the user of a ZITADEL who may not delete itself', async () => {
    const { zitadel, directory } = await planned({ roles: ['IAM_OWNER_VIEWER'] });
    const { code, stdout } = await identity(['migrate', 'resume', '--run-dir', directory, '--yes']);
    const step = `delete the user owner of ${zitadel.url} in the console, if it was created for the migration`;
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n  ${step}`) });
    expect(stdout).not.toContain('curl');
  });

  it.skipIf(process.platform === 'win32')(
    'does not ask for --yes if it removes nothing, and prints a command that deletes the user of a ZITADEL',
    async () => {
      const { zitadel, tokenFile, directory, args } = await planned();
      const resumed = await identity(['migrate', 'resume', '--run-dir', directory, '--yes']);
      expect(resumed.code, resumed.stderr).toBe(0);
      const user = `delete the user owner of ${zitadel.url} if it was created for the migration; otherwise only its token, in the console`;
      const command = `sed 's/^/Authorization: Bearer /' ${tokenFile} | curl --fail --request DELETE --header @- '${zitadel.url}/v2/users/owner'`;
      const { code, stdout } = await identity(args);
      for (const printed of [resumed.stdout, stdout])
        expect(printed).toContain(`\n\nBy hand\n  ${user}:\n  ${command}\n`);
      expect({ code, isAdvised: stdout.includes('--yes') }, stdout).toEqual({ code: 0, isAdvised: false });
      expect(zitadel.contents.users.has('owner')).toBe(true);
      const pasted = await run('/bin/sh', ['-c', command]);
      expect(pasted.code, pasted.stderr).toBe(0);
      expect(zitadel.contents.users.has('owner')).toBe(false);
    },
  );
});
