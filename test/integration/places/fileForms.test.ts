import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, calling, identity, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { readResult } from '../../support/migrations/migrating.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';

const utf16 = async (name: string) => Buffer.from(`\ufeff${await report(name)}`, 'utf16le');

const forms: readonly (readonly [string, () => Promise<Buffer>])[] = [
  ['an import request of a converter', () => report('converter-request-file.json')],
  ['a file with a byte order mark', () => report('bom.json')],
  ['a compressed file without the name of one', () => report('bucket-object.json.gz')],
  ['a request in UTF-16', () => utf16('converter-request-file.json')],
  ['a compressed request', async () => gzipSync(await report('converter-request-file.json'))],
];

async function newDatabase(): Promise<string> {
  const location = await sqlite.newLocation();
  await identity(['init', ...databaseOptions(location)], { env: keyEnvironment(location) });
  return placeOfLocation(location);
}

async function stored(content: Buffer): Promise<string> {
  const file = join(await testDirectory(), 'stored.json');
  await writeFile(file, content);
  return file;
}

describe('a file in another form than plain JSON', () => {
  it.each(forms)('is inspected, imported, compared, migrated and copied: %s', async (_name, content) => {
    const file = await stored(await content());
    expect(await identityResult(['inspect', file])).toMatchObject({ code: 0, organisations: 1 });
    const stdin = await readFile(file);
    expect(await identityResult(['inspect', '-'], { stdin })).toMatchObject({ code: 0, organisations: 1 });
    const { url, tokenFile, database } = await servedPlace(sqlite);
    for (const to of [
      ['--to', url, '--token-file', tokenFile],
      ['--to', database],
    ]) {
      const imported = await identityResult(['import', file, ...to]);
      expect(imported).toMatchObject({ code: 0, summary: { failed: {} } });
    }
    const compared = await identity(['compare', file, url, '--token-file', tokenFile]);
    expect(compared.stdout, compared.stderr).toContain('people: 1 equal\n');
    const directory = await testDirectory();
    const migrate = ['migrate', '--from', file, '--to', await newDatabase(), '--with', 'passwords', '--yes', '--json'];
    const migrated = await identity(migrate);
    expect(readResult(migrated.stdout).proof, migrated.stderr).toMatchObject({ unexpected: 0 });
    const copy = join(directory, 'copy.json');
    await call(`export ${file} --to ${copy}`, 0);
    expect((await readFile(copy)).toString()).toMatch(/^\{"orgs":|^\{\s+"orgs":/);
  });

  it('is refused as an import request with options, which only the call sets', async () => {
    const { dataOrgs } = JSON.parse((await report('converter-request-file.json')).toString());
    const file = await stored(Buffer.from(JSON.stringify({ dataOrgs, dry_run: true })));
    await call(
      `import ${file} --to ${await newDatabase()}`,
      1,
      /dry.run: the file is an import request with an option other than timeout/,
    );
  });
});

describe('a directory in place of a file', () => {
  it('is refused with a sentence that names it', async () => {
    const directory = `${await testDirectory()}/exports.json`;
    await mkdir(directory);
    await call(`inspect ${directory}`, 1, `${directory} is a directory, not an export file: specify a file`);
  });
});

describe('a file of another kind', () => {
  it.each([
    ['keycloak-realm.json', 'is an export of another product, not an export file: convert the file to an object'],
    ['saved-error-body.json', 'is a saved error response ("grpc: received message larger than max'],
  ])('is refused by every verb with a sentence that names it: %s', async (name, message) => {
    const file = await stored(await report(name));
    const database = await newDatabase();
    const calls = [
      ['inspect', file],
      ['import', file, '--to', database],
      ['compare', file, database],
      ['migrate', '--from', file, '--to', database, '--with', 'none', '--yes'],
    ];
    for (const call of calls) await calling()(call, 1, `${file} ${message}`);
  });
});

describe('an error in the JSON of a file', () => {
  it('is named with its path by the command', async () => {
    const file = await stored(Buffer.from('{"orgs":[{"orgId":"1","humanUsers":[{"userId":"a"},{"userId":tru}]}]}'));
    const path = 'orgs[0].humanUsers[1].userId: ';
    for (const [call, problem] of [
      [['inspect', file], `${file} is not an intact export file (${path}`],
      [['import', file, '--to', await newDatabase()], `refuses ${file}: ${path}`],
    ] as const)
      await calling()(call, 1, problem);
  });
});

describe('an inspection of a file', () => {
  it.each([
    ['hash-unknown-format.json', 'password hashes: unknown 1 (no release of ZITADEL verifies this format)'],
    ['recovery-codes.json', 'no export contains passkeys, U2F factors, recovery codes and OTP by SMS'],
    ['recovery-codes.json', 'unknown field, which an import ignores: humanUsers.user.recoveryCodes (1)'],
  ])('lists what will not work or is not carried: %s', async (name, line) => {
    await call(['inspect', await stored(await report(name))], 0, line);
  });

  it('lists what no instance imports, and what the target must have', async () => {
    const member = (userId: string) => ({ userId, roles: ['ORG_OWNER'] });
    const domain = (domainName: string) => ({ domainName, isVerified: true, isPrimary: true });
    const machineUsers = [{ userId: 'bot', user: { userName: 'bot', name: 'Bot' } }];
    const machineKey = { keyId: 'K', userId: 'bot', type: 'KEY_TYPE_JSON', publicKey: 'bm8gUEVN' };
    const orgs = [
      organisation('north', {
        domains: [domain('north.example')],
        humanUsers: [person('ann'), person('bob', { userName: 'bob' }), person('ann', { nickName: 'other' })],
        machineUsers,
        machineKeys: [machineKey],
        projects: [{ projectId: 'P', project: { name: 'P' } }],
        projectRoles: [{ projectId: 'P', roleKey: 'reader', displayName: 'Reader' }],
        userGrants: [{ userId: 'bot', projectId: 'P', roleKeys: ['reader', 'writer'] }],
        orgMembers: [member('ann'), member('elsewhere')],
      }),
      organisation('south', {
        humanUsers: [
          person('zoe', { userName: 'BOB' }),
          person('max', { userName: 'max@north.example' }),
          person('bob', { userName: 'rob' }),
        ],
      }),
      organisation('NORTH'),
    ];
    const file = await stored(Buffer.from(JSON.stringify({ orgs })));
    const inspected = await identityResult(['inspect', file]);
    const found = z.looseObject({ errors: z.array(z.looseObject({ id: z.string(), reason: z.string() })) });
    const expected = [
      'ann record_repeated',
      'bob id_repeated',
      'zoe login_name_taken',
      'max domain_reserved',
      'K key_invalid',
    ];
    const { errors: listed } = found.parse(inspected);
    expect(inspected.code).toBe(3);
    expect(listed.map(({ id, reason }) => `${id} ${reason}`).sort()).toEqual([...expected, 'NORTH name_taken'].sort());
    const text = await identity(['inspect', file]);
    for (const line of [
      'org member north_elsewhere: the record refers to a user that the file does not contain, or that the import omits: userId has elsewhere: import',
      'user grant north_P_bot: the file lacks the value "writer" of roleKeys: the record is imported without this value, unless the target has it: add the value',
      'person bob: the file has the id twice, first for the person bob of organisation north, then for the person rob of organisation south: ',
      'person zoe: another user has the same login name BOB: bob of organisation north: change one of the names; you can instead give both organisations `"domainPolicy":{"userLoginMustBeDomain":true}` before the first import of north\n',
      'organisation NORTH: another organisation has the same name Organisation NORTH: north: change one of the names\n',
    ])
      expect(text.stdout).toContain(line);
    const { stdout } = await identity(['inspect', file, '--org', 'south']);
    expect(stdout).not.toContain('Errors');
    const into = join(await testDirectory(), 'into.json');
    const planned = await identity(['migrate', '--from', file, '--to', into, '--with', 'all', '--dry-run', '--json']);
    for (const id of ['ann', 'zoe', 'max', 'K', 'NORTH']) expect(planned.stdout).toContain(`"id":"${id}"`);
  });
});
