import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { generateToken } from '../../../shared/auth/token.ts';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import type { Running } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { post, removeOtpEmail, send } from '../../support/http/wire.ts';
import { serve } from '../../support/instances/commandInstance.ts';
import type { Instance } from '../../support/instances/deployments.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { describeStores, keyEnvironment, setUpOnce } from '../../support/stores/stores.ts';

let local: LocalBucket;
beforeAll(async () => {
  local = await startLocalBucket();
});
afterAll(() => local.close());

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** A distinctive secret of every kind that a file or request may contain. */
const secrets = {
  clearPassword: 'Cl3ar-Passw0rd-of-Ada!',
  hash: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi',
  seed: 'KRSXG5CTMVRXEZLUKN2XAZLSOR2WY5DB',
  clientSecret: 'client-secret-of-the-provider-91b7',
  unknownToken: generateToken(),
  foreignKey: privateKey,
};

const file = {
  orgs: [
    organisation('O', {
      humanUsers: [
        { ...person('ada', { password: secrets.clearPassword }), otpEmail: true },
        person('bob', { hashedPassword: { value: secrets.hash }, otpCode: secrets.seed }),
        // An invalid record must not repeat its values either.
        person('bob', { hashedPassword: { value: secrets.hash }, otpCode: secrets.seed, userName: 'other' }),
      ],
      oidcIdps: [
        {
          idpId: 'I',
          idp: { name: 'idp', issuer: 'https://idp.example', clientId: 'c', clientSecret: secrets.clientSecret },
        },
      ],
    }),
  ],
};

/** The trail alone: the other tables contain hashes and seeds. */
function trailOf(location: StoreLocation): string {
  if (location.kind === 'firestore') return '';
  using database = new DatabaseSync(join(location.directory, 'identity.sqlite'), { readOnly: true });
  return JSON.stringify(database.prepare('SELECT * FROM trail').all()).replaceAll('\\"', '"');
}

async function masterKeyOf(location: StoreLocation): Promise<string> {
  if (location.kind === 'firestore') return location.masterKey ?? '';
  return (await readFile(join(location.directory, 'master.key'), 'utf8')).trim();
}

function place(path: string, key = local.account.privateKey) {
  const { clientEmail } = local.account;
  const json = JSON.stringify({ type: 'service_account', client_email: clientEmail, private_key: key });
  return { bucket: 'exports', path, serviceaccount_json: Buffer.from(json).toString('base64') };
}

/** The forms in which a secret could be printed. */
function formsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').filter((line) => line.length > 20 && !line.startsWith('-----'));
  return [secret, ...lines, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)];
}

/** What the calls use: a server on a database, and commands on it. */
interface World {
  readonly instance: Instance;
  /** The object of the bucket. */
  readonly path: string;
  /** A token that is restricted to imports, once it is created. */
  restricted?: string;
  readonly directory: string;
  /** Runs a command on the database, and returns its exit code and its standard output. */
  command(...args: readonly string[]): Promise<Ended>;
}

type Ended = Readonly<{ code: number | null; stdout: string }>;

const all = { with_passwords: true, with_otp: true };

/** A call, and its HTTP status or exit code. */
type Row = readonly [name: string, call: (world: World) => Promise<number | null>, result: number, only?: 'SQLite'];

const posting =
  (operation: 'export' | 'import', bodyOf: (path: string) => object, isRestricted = false) =>
  async ({ instance, path, restricted = '' }: World) =>
    (await post(isRestricted ? { ...instance, token: restricted } : instance, operation, bodyOf(path))).status;
const removing =
  (change = (token: string) => token) =>
  async ({ instance }: World) =>
    (await removeOtpEmail(instance, 'ada', change(instance.token))).status;
const running =
  (...args: readonly string[]) =>
  async ({ command, directory }: World) =>
    (await command(...args.map((word) => word.replace('DIR', directory)))).code;

const rows: readonly Row[] = [
  ['an import', posting('import', () => ({ data_orgs: file })), 200],
  ['an import of a text', posting('import', () => ({ data_orgsv1: JSON.stringify(file) })), 200],
  ['an export with all secrets', exportSecrets, 200],
  ['an export to a bucket', posting('export', (path) => ({ ...all, gcs_output: place(path) })), 200],
  ['an import from a bucket', posting('import', (path) => ({ data_orgsv1_gcs: place(path) })), 200],
  ['an export to an existing object', posting('export', (path) => ({ ...all, gcs_output: place(path) })), 409],
  ['an export with a foreign key', posting('export', () => ({ gcs_output: place('x', secrets.foreignKey) })), 400],
  ['an import that ends early', importBeginning, 400],
  ['the creation of a restricted token', createRestricted, 0],
  ['an export with a restricted token', posting('export', () => all, true), 403],
  ['an import with a restricted token', posting('import', () => ({ data_orgs: file }), true), 403],
  ['a removal with an unknown token', removing(() => secrets.unknownToken), 401],
  ['a removal with a longer token', removing((token) => `${token}x`), 401],
  ['a removal with a shorter token', removing((token) => token.slice(0, -1)), 401],
  ['a removal', removing(), 200],
  ['the list of tokens', running('pat', 'list', '--user', 'ada'), 0],
  ['the list of users', running('user', 'list'), 0],
  ['the revocation of tokens', running('pat', 'revoke', '--all', '--user', 'ada'), 0],
  ['a backup', running('backup', 'DIR/backup'), 0, 'SQLite'],
  ['the list of events', running('audit', '--json'), 0, 'SQLite'],
];

async function exportSecrets({ instance }: World): Promise<number> {
  const answer = await post(instance, 'export', { ...all, with_keys: true, response_output: true });
  for (const secret of [secrets.hash, secrets.seed, secrets.clientSecret]) expect(answer.text).toContain(secret);
  return answer.status;
}

async function importBeginning({ instance }: World): Promise<number> {
  const body = `{"data_orgs":{"orgs":[{"orgId":"X","humanUsers":[{"user":{"password":"${secrets.clearPassword}"`;
  return (await send(instance, { method: 'POST', path: '/admin/v1/import', token: instance.token, body })).status;
}

/** `pat create` prints the new token on standard output, and nowhere else. */
async function createRestricted(world: World): Promise<number | null> {
  const { code, stdout } = await world.command('pat', 'create', '--user', 'ada', '--only', 'import', '--json');
  world.restricted = z.looseObject({ token: z.string() }).parse(JSON.parse(stdout)).token;
  return code;
}

const events = [
  'import.started',
  'export.finished',
  'otpEmail.removed',
  'export.denied',
  'import.denied',
  'command.patCreate',
];

describeStores('the output of the processes and the audit trail', (kind) => {
  let location: StoreLocation;
  let server: Running;
  let printed = '';
  let world: World;
  const newLocation = setUpOnce(async () => ({ location: await kind.newLocation() }));

  beforeAll(async () => {
    const directory = await temporaryDirectory();
    ({ location } = newLocation());
    const database = databaseOptions(location);
    const env = keyEnvironment(location);
    const command = async (...args: readonly string[]) => {
      const { code, stdout, stderr, trail } = await identity([...args, ...database], { env });
      printed += `${args[1] === 'create' ? '' : stdout}${stderr}${trail}`;
      return { code, stdout };
    };
    const tokenFile = join(directory.path, 'owner.pat');
    await command('init', '--token-file', tokenFile);
    const settings = { LOG_LEVEL: 'debug', BCRYPT_COST: '10', STORAGE_EMULATOR_HOST: local.url };
    server = await serve(database, [], { ...env, ...settings });
    const instance = { url: server.ready[1] ?? '', token: await readFile(tokenFile, 'utf8'), database };
    world = { instance, path: `${kind.name}.json`, directory: directory.path, command };
    return async () => {
      await server.stop('SIGKILL');
      await directory.remove();
    };
  });
  async function expectNoSecret(text: string): Promise<void> {
    const masterKey = await masterKeyOf(location);
    const { instance, restricted = masterKey } = world;
    const used = { ...secrets, owner: instance.token, restricted, bucketKey: local.account.privateKey, masterKey };
    const leaked = Object.entries(used).filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)));
    expect(leaked.map(([name]) => name)).toEqual([]);
  }

  const tried = rows.filter(([, , , only = kind.name]) => only === kind.name);
  it.each(tried.map(([name, call, result]) => ({ name, call, result })))(
    'contain no secret after $name',
    async ({ call, result }) => {
      expect(await call(world)).toBe(result);
      await expectNoSecret(`${printed}${server.stdout()}${server.stderr()}${trailOf(location)}`);
    },
  );

  it('contain no secret of any kind, after calls that succeed, fail and are denied', async () => {
    const { stdout, stderr, code } = await server.stop('SIGTERM');
    expect(code).toBe(0);
    const text = `${printed}${stdout}${stderr}${trailOf(location)}`;
    for (const event of events) expect(text).toContain(`"event":"${event}"`);
    await expectNoSecret(text);
  });
});
