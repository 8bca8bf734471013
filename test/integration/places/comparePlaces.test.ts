import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, identity, identityJson, identityResult } from '../../support/command.ts';
import { organisation, person, zitadelText } from '../../support/fixtures/organisations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
async function fileWith(name: string, ...orgs: readonly unknown[]) {
  const file = join(await testDirectory(), name);
  await writeFile(file, JSON.stringify({ orgs }));
  return file;
}

const hashed = (value: string) => ({ hashedPassword: { value } });

describe('identity compare', () => {
  it('proves an import by the database and by the server', async () => {
    const { database, url, tokenFile } = await servedPlace(sqlite);
    const file = await fileWith('a.json', organisation('acme', { humanUsers: [person('ada', hashed(HASH))] }));
    await call(`import ${file} --to ${database}`, 0);
    const equal = { code: 0, equal: true, notCompared: [], differences: [], counts: { humanUsers: { equal: 1 } } };
    for (const places of [
      [file, database],
      [url, file, '--token-file', tokenFile],
    ])
      expect(await identityResult(['compare', ...places, '--with', 'all'])).toMatchObject(equal);
    const inspected = await identityResult(['inspect', database, '--with', 'passwords']);
    const content = { organisations: 2, hashFormats: { bcrypt: 1 }, manifest: { version: 1 } };
    expect(inspected).toMatchObject({ code: 0, ...content });
  });

  it('ends with equal after an export and an import, although both instances have a default organisation', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const given = await fileWith('a.json', organisation('acme', { humanUsers: [person('ada', hashed(HASH))] }));
    await call(`import ${given} --to ${north.database}`, 0);
    const file = join(await testDirectory(), 'north.json');
    const left = `not exported: ${north.orgId}, the default organisation (--org ${north.orgId} `;
    await call(`export ${north.database} --to ${file} --with all`, 0, left);
    await call(`import ${file} --to ${south.database}`, 0);
    for (const places of [`${file} ${south.database}`, `${south.database} ${file}`, `${file} ${north.database}`])
      await call(`compare ${places} --with all`, 0, /^equal\n/);
    const partly =
      /^all compared records are equal\n[\s\S]*\nnot compared: passwords, otp, keys \(--with selects them\)\n/;
    await call(`compare ${file} ${north.database}`, 0, partly);
    const databases = `compare ${north.database} ${south.database} --with all`;
    const line = (of: typeof north) =>
      `not compared: ${of.orgId}, the default organisation of ${of.database} (--org ${of.orgId} compares it)\n`;
    await call(databases, 0, /^equal\n/, `${line(north)}${line(south)}`);
    const selected = await identityResult([...databases.split(' '), '--org', north.orgId, '--org', 'acme']);
    expect(selected).toMatchObject({ code: 3, counts: { org: { equal: 1, onlyFirst: 1, onlySecond: 0 } } });
  });

  it('compares all secrets of two files, which --with limits', async () => {
    const withHash = (hash: string) => organisation('acme', { humanUsers: [person('ada', hashed(hash))] });
    const first = await fileWith('first.json', withHash(HASH));
    const second = await fileWith('second.json', withHash(HASH.replaceAll('B', 'C')));
    const compared = await call(`compare ${first} ${second}`, 3, 'user.hashedPassword.value: a secret, differs');
    expect(compared.stdout).not.toContain('not compared');
    await call(`compare ${first} ${second} --with otp`, 0);
  });

  it('lists fields, records of one side and secrets, which it does not print', async () => {
    const first = [organisation('acme', { humanUsers: [person('ada', hashed(HASH)), person('bob')] })];
    const otherHash = HASH.replaceAll('B', 'C');
    const users = [person('ada', { ...hashed(otherHash), userName: 'countess' }), person('eve')];
    const second = [organisation('acme', { humanUsers: users }), organisation('emca')];
    const [left, right] = [await fileWith('left.json', ...first), await fileWith('right.json', ...second)];
    const { stdout } = await call(`compare ${left} ${right} --with passwords`, 3);
    expect(stdout.split('\n')).toEqual([
      'different',
      `people: 0 equal, 1 different, 1 only in ${left}, 1 only in ${right}`,
      `organisations: 1 equal, 1 only in ${right}`,
      'not compared: otp, keys (--with selects them)',
      '',
      'Differences',
      '  person ada (name of ada) of acme: user.userName: "name of ada" | "countess"',
      '  person ada (name of ada) of acme: user.hashedPassword.value: a secret, differs',
      `  person eve (name of eve) of acme: only in ${right}`,
      `  organisation emca of emca: only in ${right}`,
      `  person bob (name of bob) of acme: only in ${left}`,
      '',
    ]);
    const limited = await identityResult(['compare', left, right, '--limit', '1', '--org', 'acme']);
    expect(limited).toMatchObject({ code: 3, equal: false, omitted: 2, differences: [{ id: 'ada' }] });
    const all = await identityResult(['compare', left, right, '--with', 'passwords']);
    expect(JSON.stringify(all)).not.toContain('$2a$');
  });

  it('lists a record that repeats another of its file with other content', async () => {
    const [ada, other] = [person('ada'), person('ada', { userName: 'other' })];
    const once = await fileWith('once.json', organisation('acme', { humanUsers: [ada] }));
    const twice = await fileWith('twice.json', organisation('acme', { humanUsers: [ada, other, other] }));
    for (const places of [`${once} ${twice}`, `${twice} ${once}`])
      await call(`compare ${places}`, 3, `(other) of acme: only in ${twice}, which has this person twice`);
    expect(await identityResult(['compare', twice, twice])).toMatchObject({ code: 0, equal: true });
  });

  it('takes both versions of export files, and files without their records in order', async () => {
    const v1 = join(await testDirectory(), 'v1.json');
    await writeFile(v1, zitadelText('export-v1-org'));
    expect(await identityResult(['compare', v1, v1, '--with', 'passwords,otp,keys'])).toMatchObject({
      code: 0,
      equal: true,
    });
    const factors = { loginPolicy: { allowRegister: true }, secondFactors: ['SECOND_FACTOR_TYPE_U2F'] };
    const factored = await fileWith('factored.json', organisation('acme', factors));
    const copy = v1.replace('v1.json', 'copy.json');
    // The factors are part of the policy.
    expect(await identityResult(['export', factored, '--to', copy])).toMatchObject({ organisations: 1, records: 2 });
    const usual = await fileWith('usual.json', organisation('acme', { humanUsers: [person('ada')] }));
    const late = await fileWith('late.json', {
      humanUsers: [person('ada')],
      org: { name: 'Organisation acme' },
      orgId: 'acme',
    });
    expect(await identityResult(['compare', usual, late])).toMatchObject({ code: 0, equal: true });
  });

  it('does not compare a damaged file', async () => {
    const file = await fileWith('a.json', organisation('acme', { humanUsers: {} }));
    const problem =
      'is not an intact export file (orgs[0].humanUsers: expected a list): export the organisations again, or correct the file\n';
    await call(`compare ${file} ${file}`, 1, `identity: ${file} ${problem}`);
  });
});

describe('a file with an invalid record', () => {
  const broken = { userId: 'bob', user: { ...person('bob').user, email: { email: 'none' } } };
  const withRecords = (...humanUsers: readonly unknown[]) =>
    organisation('acme', { humanUsers: [person('ada'), ...humanUsers] });
  const message = /valid email address .*; orgs\[0\]\.humanUsers\[1\]\.user\.email\.email: /;
  const error = { type: 'human_user', id: 'bob', message: expect.stringMatching(message) };

  it('is imported except the record, which each command lists and ends with 3 for', async () => {
    const { url, tokenFile } = await servedPlace(sqlite);
    const file = await fileWith('a.json', withRecords(broken, { userId: 'carl', user: 5 }));
    const inspected = await identityResult(['inspect', file]);
    expect(inspected).toMatchObject({ code: 3, errors: [error, { type: 'human_user', id: 'carl' }] });
    await call(`inspect ${file}`, 3, 'person bob: orgs[0].humanUsers[1].user.email.email: ');
    const importing = ['import', file, '--to', url, '--token-file', tokenFile];
    const summary = { created: { humanUsers: 1 }, failed: { humanUsers: 2 } };
    expect(await identityResult([...importing, '--dry-run'])).toMatchObject({ code: 3, errors: [error, {}], summary });
    expect(await identityResult(importing)).toMatchObject({ code: 3, errors: [error, {}], summary });
  });

  it('is compared with its invalid records', async () => {
    const [first, second] = [await fileWith('a.json', withRecords(broken)), await fileWith('b.json', withRecords())];
    const compared = await identityResult(['compare', first, second]);
    expect(compared).toMatchObject({ code: 3, differences: [{ outcome: 'onlyFirst', id: 'bob' }] });
    await call(`compare ${first} ${first}`, 0);
    const text = (profile: unknown) => withRecords({ userId: 'bob', user: { profile } });
    const [unreadable, other] = [await fileWith('c.json', text(1)), await fileWith('d.json', text(2))];
    expect(await identityResult(['compare', unreadable, other])).toMatchObject({ code: 3 });
  });
});

describe('an instance with another name', () => {
  const [from, to] = ['--from-token-file', '--to-token-file'];
  const verbs: readonly ((first: string, second: string) => string[])[] = [
    (first, second) => ['import', first, '--to', second, '--with', 'none'],
    (first, second) => ['compare', first, second],
    (first, second) => ['migrate', '--from', first, '--to', second, '--with', 'none', '--yes'],
    (first, second) => ['migrate', '--dry-run', '--from', first, '--to', second, '--with', 'none'],
  ];

  it('is the same place in every verb, and a restored copy or a file of it is another', async () => {
    const { database, url, tokenFile, orgId } = await servedPlace(sqlite);
    const directory = await testDirectory();
    const data = database.replace('sqlite:', '');
    const other = url.replace('127.0.0.1', 'localhost');
    const [backup, restored, file] = ['a.backup', 'restored', 'a.json'].map((name) => join(directory, name));
    const copy = join(await testDirectory(), 'copy');
    await cp(data, copy, { recursive: true });
    const calls = [
      ...verbs.map((verb) => [...verb(url, other), from, tokenFile, to, tokenFile]),
      ...verbs.map((verb) => [...verb(url, database), from, tokenFile]),
      ...verbs.map((verb) => [...verb(database, other), to, tokenFile]),
      ...verbs.map((verb) => verb(database, `sqlite:${copy}`)),
    ];
    for (const call of calls) {
      const { code, stderr } = await identity(call, { cwd: directory });
      const refusal = expect.stringMatching(
        /^identity: \S+ and \S+ are the same instance: specify two instances; .*\n$/,
      );
      expect({ code, stderr }, call.join(' ')).toEqual({ code: 64, stderr: refusal });
    }
    expect(await readdir(directory)).toEqual([]);
    await identityJson(['backup', `${backup}`, '--data', data]);
    await identityJson(['restore', `${backup}`, '--data', `${restored}`, '--key', join(data, 'master.key')]);
    const options = ['--token-file', tokenFile, '--org', orgId];
    const equal = { code: 0, equal: true };
    expect(await identityResult(['compare', `sqlite:${restored}`, url, ...options])).toMatchObject(equal);
    expect(await identityResult(['export', url, '--to', `${file}`, ...options])).toMatchObject({ code: 0 });
    expect(await identityResult(['import', `${file}`, '--to', url, ...options])).toMatchObject({ code: 0 });
  });
});

describe('identity inspect', () => {
  it('lists the content of a file, and the manual steps after its import', async () => {
    const machine = { userId: 'robot', user: { userName: 'robot', name: 'robot' } };
    const users = [
      person('ada', hashed(HASH)),
      person('bob', hashed('not a hash')),
      person('eve', { password: 'Password1!' }),
    ];
    const file = await fileWith('a.json', {
      ...organisation('acme', { humanUsers: users, machineUsers: [machine] }),
      unheardOf: [1, 2],
    });
    const { stdout } = await call(
      `inspect ${file}`,
      0,
      // A compressed file has another size.
      / organisations?, [\d,]+ bytes of JSON$/m,
      '\nno manifest: the completeness of the file cannot be verified\n',
      '\nsecrets: password hashes 2, clear passwords 1\n',
      '\npassword hashes: bcrypt 1 (verified by default), unknown 1 (no release of ZITADEL verifies this format)\n',
      '\nunknown field, which an import ignores: unheardOf (2)\n',
      '\n  no export contains personal access tokens: create the tokens again in the target\n',
      /^Left to do in ZITADEL\n {2}.+$/m,
      'the export has no TOTP seeds and OTP e-mail factors: include these secrets (--with otp) and overwrite existing people',
    );
    for (const absent of ['the export has no password hashes', HASH]) expect(stdout).not.toContain(absent);
    const sections = { humanUsers: { records: 3, bytes: expect.any(Number) }, machineUsers: { records: 1 } };
    expect(await identityResult(['inspect', file])).toMatchObject({ code: 0, bytes: expect.any(Number), sections });
  });

  it('counts all that something is left to do for, and names ZITADEL for a file only', async () => {
    const { database } = await servedPlace(sqlite);
    const users = Array.from({ length: 120 }, (_, number) =>
      person(`p${number}`, hashed('$argon2id$v=19$m=8,t=1,p=1$')),
    );
    const file = await fileWith(
      'a.json',
      organisation('acme', { humanUsers: users.map((one) => ({ ...one, otpEmail: true })) }),
    );
    const factors = /\n {2}120 people: ZITADEL does not import OTP e-mail factors.*: p0, p1, p2, and 117 more\n/;
    const hashes = /\n {2}120 people: no release of ZITADEL verifies this password hash, and from June 2026 on ZITADEL/;
    await call(`inspect ${file}`, 0, factors, hashes);
    await call(`import ${file} --to ${database}`, 0);
    const ofDatabase = await call(`inspect ${database}`, 0, /^Left to do by hand$/m);
    expect(ofDatabase.stdout).not.toMatch(/ZITADEL|the file/);
  });
});

describe('identity import and identity compare', () => {
  it('report that there are no records, and count the people who arrive without a password', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const [nothing, other] = [await fileWith('nothing.json'), await fileWith('other.json')];
    const between = `import ${north.database} --to ${south.database} --with none`;
    await call(`${between} --exclude-org ${north.orgId}`, 0, /^nothing to import: the source has no organisations\n/);
    await call(`compare ${nothing} ${other}`, 0, /^nothing to compare: neither place has records\n/);
    const file = await fileWith('a.json', organisation('acme', { humanUsers: [person('ada', hashed(HASH))] }));
    expect((await call(`import ${file} --to ${north.database}`, 0)).stdout).not.toContain('without');
    const ofAcme = `${between} --org acme`;
    await call(
      ofAcme,
      0,
      '\nnot imported: the passwords that 1 person may have in the source (--with passwords imports them)\n',
    );
    await call(ofAcme, 0, /^nothing to import: all records of the source exist in sqlite:/);
    await call(`user lock ada --data ${south.database.slice('sqlite:'.length)}`, 0);
    await call(`${ofAcme} --on-conflict skip`, 0, /^nothing is imported into .*\n(?:.*\n)*skipped: /);
  });
});
