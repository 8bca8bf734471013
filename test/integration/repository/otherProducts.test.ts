import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run } from '../../../tools/program.ts';
import { call, identityJson } from '../../support/command.ts';
import { readDocument } from '../../support/documents/documentation.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';

const hasJq = await run('jq', ['--version']).then(
  ({ code }) => code === 0,
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

const realm = {
  realm: 'my-realm',
  users: [
    {
      ...name,
      id: 'k1',
      username: 'ann',
      email: 'ann@example.com',
      emailVerified: true,
      enabled: true,
      credentials: [
        credential('password', { value: hash, salt }, { hashIterations: 27_500, algorithm: 'pbkdf2-sha256' }),
        credential('otp', { value: 'abcdefghijklmnopqrst' }, { subType: 'totp', digits: 6, period: 30 }),
      ],
    },
    {
      id: 'k2',
      username: 'bob',
      email: 'bob@example.com',
      enabled: false,
      credentials: [
        credential(
          'password',
          { value: hash, salt },
          { hashIterations: 5, algorithm: 'argon2', additionalParameters: argon2 },
        ),
      ],
    },
    {
      firstName: '',
      id: 'k4',
      username: 'cleo',
      email: 'cleo@example.com',
      enabled: true,
      credentials: [credential('otp', { value: 'abc' }, { subType: 'totp', digits: 8, period: 30 })],
    },
    { id: 'k3', username: 'service-account-x', enabled: true, serviceAccountClientId: 'x' },
  ],
};

const auth0 = [
  { user_id: 'auth0|1', email: 'ann@example.com', email_verified: true, given_name: 'A', family_name: 'B' },
  { user_id: 'auth0|2', email: 'bob@example.com', nickname: 'bob', blocked: true },
  { user_id: 'sms|3', phone_number: '+41791234567', phone_verified: true },
];

const columns = 'id,userName,firstName,lastName,email,emailVerified';
const ann = '1,ann,A,B,ann@example.com,true';
const bob = '2,bob,C,D,bob@example.com,';
const semicolons = (text: string) => text.replaceAll(',', ';');
const csvPeople = [
  { userId: '1', user: { userName: 'ann', email: { email: 'ann@example.com', isEmailVerified: true } } },
  { userId: '2', user: { profile: { firstName: 'C' }, email: { isEmailVerified: false } } },
];

/** The inputs of each product's program, the people of its output, and facts about what is imported. */
const products = [
  {
    product: 'Keycloak',
    files: { 'realm.json': json(realm) },
    people: [
      { userId: 'k1', user: { otpCode: 'MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U', email: { isEmailVerified: true } } },
      { userId: 'k2', state: 'USER_STATE_INACTIVE', user: { profile: { firstName: 'bob', lastName: 'bob' } } },
      { userId: 'k4', user: { profile: { firstName: 'cleo' } } },
    ],
    secrets: { passwordHashes: 2, totpSeeds: 1 },
    formats: { pbkdf2: 1, argon2: 1 },
    failed: 0,
  },
  {
    product: 'Auth0',
    files: {
      'users.json': auth0.map(json).join('\n'),
      'passwords.json': json({ _id: { $oid: '1' }, email: 'ann@example.com', passwordHash: bcrypt }),
    },
    people: [
      { userId: 'auth0|1', user: { profile: { firstName: 'A' }, hashedPassword: { value: bcrypt } } },
      { userId: 'auth0|2', state: 'USER_STATE_LOCKED', user: { profile: { lastName: 'bob' } } },
      { userId: 'sms|3', user: { userName: '+41791234567', phone: { phone: '+41791234567', isPhoneVerified: true } } },
    ],
    secrets: { passwordHashes: 1 },
    formats: { bcrypt: 1 },
    // The person without an e-mail address.
    failed: 1,
  },
  ...[
    `${columns}\r\n${ann}\r\n${bob}\n`,
    `\ufeff${semicolons(columns)}\r\n${semicolons(ann)}\r\n${semicolons(bob)}\r\n`,
  ].map((list) => ({
    product: 'CSV',
    files: { 'people.csv': list },
    people: csvPeople,
    secrets: {},
    formats: {},
    failed: 0,
  })),
];

/** Runs a product's command of the document on the product's files, in a directory. */
async function convert(product: string, files: Readonly<Record<string, string>>) {
  const { text } = await readDocument('docs/other-products.md');
  const [, command = ''] = new RegExp(`^## ${product}$[\\s\\S]*?^ {4}(jq .*) > people\\.json$`, 'm').exec(text) ?? [];
  const directory = await testDirectory();
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content);
  const ended = await run('bash', ['-c', command.replace('docs/', `${root}/docs/`)], { cwd: directory });
  return { directory, ...ended };
}

describe.skipIf(!hasJq)('a program of docs/other-products.md (skipped without jq)', () => {
  it.each(products)('turns the users of $product into an export file', async ({ product, files, ...expected }) => {
    const { directory, code, stdout, stderr } = await convert(product, files);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ orgs: [{ humanUsers: expected.people }] });

    const file = join(directory, 'people.json');
    await writeFile(file, stdout);
    const inspected = await call(`inspect ${file} --json`, expected.failed === 0 ? 0 : 3);
    expect(JSON.parse(inspected.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      sections: { humanUsers: { records: expected.people.length } },
      secrets: expected.secrets,
      hashFormats: expected.formats,
    });
    await identityJson(['init', '--data', join(directory, 'target')]);
    await call(['import', file, '--to', `sqlite:${join(directory, 'target')}`], expected.failed === 0 ? 0 : 3);
  });

  it.each([
    ['a field in quotes', `${columns}\n1,ann,"A, B",C,ann@example.com,true\n`, 'a field is in quotes'],
    [
      'a list without a column',
      'id,userName\n1,ann\n',
      'the first line lacks firstName, lastName, email, emailVerified',
    ],
    ['a line with fewer fields', `${columns}\n1,ann\n`, 'not 6 fields: ["1","ann"]'],
  ])('refuses %s', async (_what, list, problem) => {
    const { code, stderr } = await convert('CSV', { 'people.csv': list });
    expect(code).not.toBe(0);
    expect(stderr).toContain(problem);
  });

  it('lists the users of Keycloak whose one-time passwords it leaves out', async () => {
    const { text } = await readDocument('docs/other-products.md');
    const [, program = ''] = /^ {4}jq -r '(.*)' realm\.json$/m.exec(text) ?? [];
    const directory = await testDirectory();
    await writeFile(join(directory, 'realm.json'), json(realm));
    const { stdout } = await run('jq', ['-r', program, 'realm.json'], { cwd: directory });
    expect(stdout).toBe('cleo\n');
  });
});
