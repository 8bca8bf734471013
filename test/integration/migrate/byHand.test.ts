import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../../tools/program.ts';
import { call, identity, identityResult } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const acme = organisation('acme');

describe('the end of a migration', () => {
  it('lists what only a person can do, one command per step', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await identity(['import', await exportFileWith(acme), '--to', north.database]);
    const migrated = await call(['migrate', ...betweenServers(north, south), '--with', 'none', '--yes'], 0);
    const revocation = (url: string) =>
      `if you created the token for ${url} for the migration, revoke the token on the machine with the database of ${url}:\n {2}identity pat revoke [0-9a-f]{32} --data DIR`;
    const deletion = (file: string) => `delete ${file}, unless you still need the secret in it:\n {2}rm ${file}`;
    const steps = [revocation(north.url), revocation(south.url), deletion(north.tokenFile), deletion(south.tokenFile)];
    expect(migrated.stdout).toMatch(new RegExp(`\n\nBy hand\n {2}${steps.join('\n {2}')}\n\nTo undo the migration\n`));
    expect(migrated.stdout).not.toContain(north.token);
  });

  it('prints one command for each user that prepare has created', async () => {
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
    await call(`migrate prepare ${only.join(' ')}`, 64);
    const [source, target] = [await prepare(north, '--only', 'export'), await prepare(south)];
    const places = betweenServers({ ...north, ...source }, { ...south, ...target });
    const migrated = await call(`migrate ${places.join(' ')} --with none --yes`, 0);
    for (const [served, { userId, tokenFile }] of [
      [north, source],
      [south, target],
    ] as const) {
      const command = `service-user delete ${userId}`;
      const what = `delete the service user that \`identity migrate prepare\` created on ${served.url}; run the command on the machine with the database of ${served.url}`;
      expect(migrated.stdout).toContain(`\n  ${what}:\n  identity ${command} --data DIR\n`);
      await call([...command.split(' '), ...databaseOptions(served.location)], 0);
      const refused = await identity(['inspect', served.url, '--token-file', tokenFile]);
      expect(refused.stderr).toContain('rejects the token of --token-file');
    }
  });

  it('prints a command that takes back only what this run has created', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await identity(['import', await exportFileWith(acme, organisation('emca')), '--to', north.database]);
    await identity(['import', await exportFileWith(acme), '--to', south.database]);
    const places = ['--from', north.database, '--to', south.database, '--with', 'none', '--yes'];
    const migrated = await call(`migrate ${places.join(' ')}`, 0);
    const [, command = ''] = /\n {2}identity (org delete .+)\n/.exec(migrated.stdout) ?? [];
    expect(command).toMatch(/^org delete emca --data /);
    expect(migrated.stdout).toContain(
      '\n  acme (Organisation acme) existed when this run began: delete it only if an earlier, interrupted run created it\n',
    );
    await call([...command.split(' '), '--yes'], 0);
    const { stdout } = await identity(['org', 'list', ...databaseOptions(south.location)]);
    expect(stdout).toContain('acme');
    expect(stdout).not.toContain('emca');
    const again = await identity(['migrate', ...places]);
    expect(again.stdout).toContain(`identity org delete emca --data `);
  });

  it('does not list an organisation that the import refused among those to take back', async () => {
    const { database } = await servedPlace(sqlite);
    const from = await exportFileWith(acme, organisation('refused', { org: { name: '' } }));
    const result = await identityResult(['migrate', '--from', from, '--to', database, '--with', 'none', '--yes']);
    expect(result).toMatchObject({ code: 3, errors: [{ type: 'org', id: 'refused' }] });
    const what = `delete 1 organisation that this run created in ${database}, with all records`;
    expect(result).toHaveProperty('takeBack', [{ what, command: expect.stringContaining('org delete acme ') }]);
  });

  it('prints no command for the user of a ZITADEL who may not delete itself', async () => {
    const { zitadel, args } = await fromZitadel({ roles: ['IAM_OWNER_VIEWER'] });
    const { code, stdout } = await identity(args);
    const step = `in the console of ${zitadel.url}, delete the user owner if you created the user for the migration`;
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n  ${step}`) });
    expect(stdout).not.toContain('curl');
  });

  it('names for the console of ZITADEL only organisations that this run created', async () => {
    const { zitadel, tokenFile } = await filledZitadel([]);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const args = ['migrate', '--from', await exportFileWith(acme), ...to, '--yes'];
    const what = `in the console of ${zitadel.url}, delete 1 organisation that this run created, with all records, which can never return there: acme (Organisation acme)`;
    expect(await identityResult(args)).toHaveProperty('takeBack', [{ what }]);
    const repeated = await identityResult(args);
    expect(repeated).toHaveProperty('takeBack', [
      {
        what: 'acme (Organisation acme) existed when this run began: delete it only if an earlier, interrupted run created it',
      },
    ]);
  });

  it.skipIf(process.platform === 'win32')('prints a command that deletes the user of a ZITADEL', async () => {
    const { zitadel, tokenFile, args } = await fromZitadel();
    const { code, stdout, stderr } = await identity(args);
    expect(code, stderr).toBe(0);
    const user = `delete the user owner of ${zitadel.url} if you created the user for the migration; otherwise delete only the token, in the console`;
    const command = `sed 's/^/Authorization: Bearer /' ${tokenFile} | curl --fail --request DELETE --header @- '${zitadel.url}/v2/users/owner'`;
    expect(stdout).toContain(`\n\nBy hand\n  ${user}:\n  ${command}\n`);
    expect(zitadel.contents.users.has('owner')).toBe(true);
    const pasted = await run('/bin/sh', ['-c', command]);
    expect(pasted.code, pasted.stderr).toBe(0);
    expect(zitadel.contents.users.has('owner')).toBe(false);
  });
});

/** Returns the call of a migration from ZITADEL to a file. */
async function fromZitadel(given: Parameters<typeof filledZitadel>[1] = {}) {
  const { zitadel, tokenFile } = await filledZitadel([acme], given);
  const from = ['--from', zitadel.url, '--from-token-file', tokenFile];
  const to = ['--to', join(await testDirectory(), 'acme.json'), '--with', 'none', '--yes'];
  return { zitadel, tokenFile, args: ['migrate', ...from, ...to] };
}

describe('identity migrate prepare', () => {
  it('prints the steps for a ZITADEL, and creates nothing for any other place', async () => {
    const prepare = ['migrate', 'prepare', '--token-file', '/nonexistent/zitadel.pat'];
    const { code, stdout } = await identity([...prepare, 'https://zitadel.example.com']);
    expect(code).toBe(0);
    expect(stdout).toContain('Service Users, New: create a user in the default organisation');
    expect(stdout).toContain(
      'identity migrate --from https://zitadel.example.com --from-token-file /nonexistent/zitadel.pat … --dry-run',
    );
    const both = await identity([...prepare, 'https://zitadel.example.com', '--data', 'north']);
    expect(both).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('an address, --data and --firestore are mutually exclusive'),
    });
    const file = await identity([...prepare, 'north.json']);
    expect(file).toMatchObject({ code: 64, stderr: expect.stringContaining('north.json is not an address') });
  });
});
