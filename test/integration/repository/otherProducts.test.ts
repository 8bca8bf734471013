import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../../tools/program.ts';
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
    { id: 'k3', username: 'service-account-x', enabled: true, serviceAccountClientId: 'x' },
  ],
};

const auth0 = [
  { user_id: 'auth0|1', email: 'ann@example.com', email_verified: true, given_name: 'A', family_name: 'B' },
  { user_id: 'auth0|2', email: 'bob@example.com', nickname: 'bob', blocked: true },
];

/** The inputs of each product's program, and facts about what is imported. */
const products = {
  Keycloak: {
    files: { 'realm.json': json(realm) },
    args: ['-f', 'program.jq', 'realm.json'],
    secrets: { passwordHashes: 2, totpSeeds: 1 },
    content: '"otpCode": "MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U"',
    formats: { pbkdf2: 1, argon2: 1 },
  },
  Auth0: {
    files: {
      'users.json': auth0.map(json).join('\n'),
      'passwords.json': json({ _id: { $oid: '1' }, email: 'ann@example.com', passwordHash: bcrypt }),
    },
    args: ['-s', '--slurpfile', 'passwords', 'passwords.json', '-f', 'program.jq', 'users.json'],
    secrets: { passwordHashes: 1 },
    content: '"state": "USER_STATE_LOCKED"',
    formats: { bcrypt: 1 },
  },
  CSV: {
    files: {
      'people.csv': 'id,userName,firstName,lastName,email\r\n1,ann,A,B,ann@example.com\r\n2,bob,C,D,bob@example.com\n',
    },
    args: ['-R', '-s', '-f', 'program.jq', 'people.csv'],
    secrets: {},
    content: '"email": "bob@example.com"',
    formats: {},
  },
};

describe.skipIf(!hasJq)('a program of docs/other-products.md (skipped without jq)', () => {
  it.each(Object.entries(products))(
    'turns the users of %s into an export file',
    async (product, { files, ...expected }) => {
      const { text } = await readDocument('docs/other-products.md');
      const [, program = ''] =
        new RegExp(`^## ${product}$[\\s\\S]*?^\`\`\`jq\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text) ?? [];
      const directory = await testDirectory();
      for (const [file, content] of Object.entries({ ...files, 'program.jq': program }))
        await writeFile(join(directory, file), content);
      const { code, stdout, stderr } = await run('jq', expected.args, { cwd: directory });
      expect(code, stderr).toBe(0);
      const file = join(directory, 'people.json');
      await writeFile(file, stdout);
      expect(stdout).toContain(expected.content);

      const inspected = await call(`inspect ${file} --json`, 0);
      const result: unknown = JSON.parse(inspected.stdout.trim().split('\n').at(-1) ?? '');
      expect(result).toMatchObject({
        sections: { humanUsers: { records: 2 } },
        secrets: expected.secrets,
        hashFormats: expected.formats,
      });
      await identityJson(['init', '--data', join(directory, 'target')]);
      await call(['import', file, '--to', `sqlite:${join(directory, 'target')}`], 0);
    },
  );
});
