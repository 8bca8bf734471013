import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run } from '../../../tools/program.ts';
import { call, identityJson } from '../../support/command.ts';
import { readDocument } from '../../support/documents/documentation.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';

const hasTools = await Promise.all(['jq', 'python3'].map((tool) => run(tool, ['--version']))).then(
  (runs) => runs.every(({ code }) => code === 0),
  () => false,
);

const json = (value: unknown) => JSON.stringify(value);
const salt = Buffer.alloc(16, 1).toString('base64');
const hash = Buffer.alloc(32, 2).toString('base64');
const bcrypt = `$2b$10$${'a'.repeat(53)}`;

/** A credential of Keycloak, whose parts are texts of JSON. */
const credential = (type: string, secret: object, data: object) => ({
  type,
  secretData: json(secret),
  credentialData: json(data),
});
const argon2 = { type: ['id'], memory: ['7168'], parallelism: ['1'], version: ['1.3'], hashLength: ['32'] };
const name = { firstName: 'A', lastName: 'B' };

/** A user of Keycloak with a name and an address. */
const keycloakUser = (username: string, more: object = {}) => {
  return { username, enabled: true, email: `${username}@example.com`, ...more };
};
const hashed = (data: object) => credential('password', { value: hash, salt }, data);
const totp = (value: string, digits: number) => credential('otp', { value }, { subType: 'totp', digits, period: 30 });
const sha256 = { hashIterations: 27_500, algorithm: 'pbkdf2-sha256' };
const ofArgon2 = { hashIterations: 5, algorithm: 'argon2', additionalParameters: argon2 };

const realm = {
  realm: 'my-realm',
  users: [
    keycloakUser('ann', {
      ...name,
      id: 'k1',
      emailVerified: true,
      credentials: [hashed(sha256), totp('abcdefghijklmnopqrst', 6)],
    }),
    keycloakUser('bob', { id: 'k2', enabled: false, credentials: [hashed(ofArgon2)] }),
    keycloakUser('cleo', { firstName: '', id: 'k4', credentials: [totp('abc', 8)] }),
    { id: 'k3', username: 'service-account-x', enabled: true, serviceAccountClientId: 'x' },
  ],
};

/** A realm of Keycloak's own samples, whose users have neither ids nor hashed passwords. */
const sampleRealm = {
  realm: 'test',
  enabled: true,
  users: [
    keycloakUser('alice', {
      credentials: [{ type: 'password', value: 'Secret-12' }],
      requiredActions: ['UPDATE_PASSWORD'],
    }),
    keycloakUser('jdoe'),
  ],
};

/** An export of a release of Keycloak before 8, whose credentials have no texts of JSON. */
const oldCredentials = [
  { type: 'totp', hashedSaltedValue: 'abcdefghijklmnopqrst', digits: 6, period: 30, algorithm: 'HmacSHA1' },
  { type: 'password', hashedSaltedValue: hash, salt, ...sha256, counter: 0, digits: 0, period: 0 },
];
const oldRealm = { realm: 'old', users: [keycloakUser('old', { ...name, id: 'o1', credentials: oldCredentials })] };

/** Two users of Auth0 with the same e-mail address: a stranger signed up with the address of the first. */
const auth0 = [
  { user_id: 'google-oauth2|1', email: 'ann@example.com', email_verified: true, given_name: 'A', family_name: 'B' },
  { user_id: 'auth0|abc', username: 'mallory', email: 'ann@example.com', email_verified: false },
  { user_id: 'auth0|2', email: 'Bob@example.com', nickname: 'bob', blocked: true },
  { user_id: 'sms|3', phone_number: '+41791234567', phone_verified: true },
  {
    user_id: 'github|4',
    email: 'cleo@example.com',
    identities: [
      { provider: 'github', user_id: 4, connection: 'github', isSocial: true },
      { provider: 'auth0', user_id: 'def', connection: 'db', isSocial: false },
    ],
  },
];
const auth0Hash = (oid: string, email: string) =>
  json({ _id: { $oid: oid }, email_verified: false, email, passwordHash: bcrypt, tenant: 't', connection: 'db' });
const auth0Hashes = [
  auth0Hash('abc', 'ann@example.com'),
  auth0Hash('2', 'bob@example.com'),
  auth0Hash('def', 'cleo@example.com'),
  auth0Hash('gone', 'gone@example.com'),
].join('\n');
const auth0People = [
  { userId: 'google-oauth2|1', user: { profile: { firstName: 'A' }, email: { isEmailVerified: true } } },
  { userId: 'auth0|abc', user: { email: { isEmailVerified: false }, hashedPassword: { value: bcrypt } } },
  { userId: 'auth0|2', state: 'USER_STATE_LOCKED', user: { profile: { lastName: 'bob' } } },
  { userId: 'sms|3', user: { userName: '+41791234567', phone: { phone: '+41791234567', isPhoneVerified: true } } },
  { userId: 'github|4', user: { hashedPassword: { value: bcrypt } } },
];
/** The names of a file's columns, as the dashboard exports them. */
const auth0Columns = { Id: 'auth0|abc', Email: 'ann@example.com', 'Email Verified': true, 'Given Name': 'A' };

const columns = 'id,userName,firstName,lastName,email,emailVerified';
const ann = '1,ann,A,B,ann@example.com,TRUE ';
const bob = '2,bob,"C, c",D,bob@example.com,FALSE';
const semicolons = (text: string) => text.replaceAll(/,(?! )/g, ';');
const csvPeople = [
  { userId: '1', user: { userName: 'ann', email: { email: 'ann@example.com', isEmailVerified: true } } },
  { userId: '2', user: { profile: { firstName: 'C, c' }, email: { isEmailVerified: false } } },
];

/** The inputs of each product's program, the people of its output, the secrets and hashes, and the failed people. */
type Product = readonly [
  product: string,
  files: Readonly<Record<string, string>>,
  people: readonly object[],
  secrets: object,
  formats: object,
  failed: number,
];

const TOTP = 'MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U';
const products: readonly Product[] = [
  [
    'Keycloak',
    { 'realm.json': json(realm) },
    [
      { userId: 'k1', user: { otpCode: TOTP, email: { isEmailVerified: true } } },
      { userId: 'k2', state: 'USER_STATE_INACTIVE', user: { profile: { firstName: 'bob', lastName: 'bob' } } },
      { userId: 'k4', user: { profile: { firstName: 'cleo' } } },
    ],
    { passwordHashes: 2, totpSeeds: 1 },
    { pbkdf2: 1, argon2: 1 },
    0,
  ],
  [
    'Keycloak',
    { 'realm.json': json([sampleRealm, oldRealm]) },
    [
      { userId: 'o1', user: { hashedPassword: { value: `$pbkdf2-sha256$27500$${salt}$${hash}` }, otpCode: TOTP } },
      { userId: 'alice', user: { password: 'Secret-12', passwordChangeRequired: true } },
      { userId: 'jdoe' },
    ],
    { passwordHashes: 1, totpSeeds: 1 },
    { pbkdf2: 1 },
    0,
  ],
  ...[auth0.map(json).join('\n'), json(auth0), json({ start: 0, limit: 50, total: 5, users: auth0 })].map(
    (users): Product => [
      'Auth0',
      { 'users.json': users, 'passwords.json': auth0Hashes },
      auth0People,
      { passwordHashes: 3 },
      { bcrypt: 3 },
      // The person without an e-mail address.
      1,
    ],
  ),
  [
    'Auth0',
    { 'users.json': json(auth0Columns), 'passwords.json': auth0Hashes },
    [{ userId: 'auth0|abc', user: { email: { isEmailVerified: true }, hashedPassword: { value: bcrypt } } }],
    { passwordHashes: 1 },
    { bcrypt: 1 },
    0,
  ],
  ...[
    `${columns}\r\n${ann}\r\n${bob}\n`,
    `\ufeff${semicolons(columns)}\r\n${semicolons(ann)}\r\n${semicolons(bob)}\r\n`,
  ].map((list): Product => ['CSV', { 'people.csv': list }, csvPeople, {}, {}, 0]),
];

/** Runs a product's command of the document on the product's files, in a directory. */
async function convert(product: string, files: Readonly<Record<string, string | Buffer>>) {
  const { text } = await readDocument('docs/other-products.md');
  const [, command = ''] =
    new RegExp(`^## ${product}$[\\s\\S]*?^ {4}((?:jq|python3) .*) > people\\.json$`, 'm').exec(text) ?? [];
  const directory = await testDirectory();
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content);
  const ended = await run('bash', ['-c', command.replace('docs/', `${root}/docs/`)], { cwd: directory });
  return { directory, ...ended };
}

describe.skipIf(!hasTools)('a program of docs/other-products.md (skipped without jq and Python)', () => {
  it.each(products)(
    'turns the users of %s into an export file',
    async (product, files, people, secrets, hashFormats, failed) => {
      const { directory, code, stdout, stderr } = await convert(product, files);
      expect(code, stderr).toBe(0);
      const { orgs }: { orgs: { humanUsers: unknown[] }[] } = JSON.parse(stdout);
      expect(orgs.flatMap(({ humanUsers }) => humanUsers)).toMatchObject(people);

      const file = join(directory, 'people.json');
      await writeFile(file, stdout);
      const inspected = await call(`inspect ${file} --json`, failed === 0 ? 0 : 3);
      expect(JSON.parse(inspected.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        sections: { humanUsers: { records: people.length } },
        secrets,
        hashFormats,
      });
      await identityJson(['init', '--data', join(directory, 'target')]);
      await call(['import', file, '--to', `sqlite:${join(directory, 'target')}`], failed === 0 ? 0 : 3);
    },
  );

  it.each([
    [
      'a list without a column',
      'id,userName\n1,ann\n',
      'the first line needs each of these names once: firstName, lastName, email, emailVerified',
    ],
    ['a line with fewer fields', `${columns}\n1,ann\n`, 'line 2 has 2 fields instead of 6'],
    ['an unknown value', `${columns}\n1,ann,A,B,ann@example.com,maybe\n`, "line 2: emailVerified is 'maybe'"],
    ['an open quote', `${columns}\n1,ann,"A,B,ann@example.com,true\n`, 'line 2: '],
    ['another encoding', Buffer.from(`${columns}\n1,ann,J\u00f6,B,ann@example.com,\n`, 'latin1'), 'is not in UTF-8'],
  ])('refuses a CSV file with %s', async (_what, list, problem) => {
    const { code, stdout, stderr } = await convert('CSV', { 'people.csv': list });
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(problem);
  });

  it('refuses a realm of Keycloak without users', async () => {
    const { code, stderr } = await convert('Keycloak', { 'realm.json': json({ realm: 'empty', enabled: true }) });
    expect(code).not.toBe(0);
    expect(stderr).toContain('no users: export the realm with kc.sh export');
  });

  it('lists the users of Keycloak whose one-time passwords it leaves out', async () => {
    const { stderr } = await convert('Keycloak', { 'realm.json': json(realm) });
    expect(stderr.trim()).toBe(json(['DEBUG:', 'left out: one-time passwords of cleo']));
  });

  it('counts what it leaves out of the users of Keycloak', async () => {
    const more = {
      attributes: { phoneNumber: ['+41791234567'], locale: ['de'] },
      federatedIdentities: [{ identityProvider: 'google', userId: '1', userName: 'ann' }],
      realmRoles: ['user'],
      clientRoles: { account: ['view'] },
      groups: [],
      credentials: [credential('webauthn', {}, {})],
    };
    const users = sampleRealm.users.map((user) => ({ ...user, ...more }));
    const { code, stderr } = await convert('Keycloak', { 'realm.json': json({ ...sampleRealm, users }) });
    expect(code, stderr).toBe(0);
    const kinds = ['attribute locale', 'attribute phoneNumber', 'clientRoles', 'credentials of type webauthn'];
    expect(stderr.trim().split('\n')).toEqual(
      [...kinds, 'federatedIdentities', 'realmRoles'].map((kind) => json(['DEBUG:', `left out: ${kind} (2)`])),
    );
  });

  it('reads values of Auth0 that are texts, and refuses unknown ones', async () => {
    const [user] = auth0;
    const files = (verified: unknown) => ({
      'users.json': json({ ...user, email_verified: verified }),
      'passwords.json': auth0Hashes,
    });
    expect((await convert('Auth0', files('true'))).stdout).toContain('"isEmailVerified": true');
    const { code, stderr } = await convert('Auth0', files('perhaps'));
    expect(code).not.toBe(0);
    expect(stderr).toContain('email_verified of google-oauth2|1 is perhaps: write true or false');
  });

  it('shows how to call the program for CSV', async () => {
    const { code, stderr } = await run('python3', [join(root, 'docs/other-products/people-csv.py')]);
    expect([code, stderr.trim()]).toEqual([1, 'usage: people-csv.py FILE.csv > people.json']);
  });

  it('gives a password hash of Auth0 only to its own user, and lists hashes without a user', async () => {
    const files = { 'users.json': auth0.map(json).join('\n'), 'passwords.json': auth0Hashes };
    const { stdout, stderr } = await convert('Auth0', files);
    const { orgs }: { orgs: { humanUsers: { userId: string; user: object }[] }[] } = JSON.parse(stdout);
    const withHash = orgs.flatMap(({ humanUsers }) => humanUsers).filter(({ user }) => 'hashedPassword' in user);
    expect(withHash.map(({ userId }) => userId)).toEqual(['auth0|abc', 'auth0|2', 'github|4']);
    expect(stderr.trim()).toBe(json(['DEBUG:', 'no user for the password hash of auth0|gone']));
  });
});
