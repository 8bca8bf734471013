import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { generateToken } from '../../../shared/auth/token.ts';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { startProgram } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importInto, parseOk, post, removeOtpEmail, send } from '../../support/http/wire.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { describeStores, keyEnvironment } from '../../support/stores/stores.ts';

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

const shown = z.looseObject({ token: z.string(), userId: z.string().optional() });

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

function place(path: string, key: string) {
  const { clientEmail } = local.account;
  const json = JSON.stringify({ type: 'service_account', client_email: clientEmail, private_key: key });
  return { bucket: 'exports', path, serviceaccount_json: Buffer.from(json).toString('base64') };
}

/** The forms in which a secret could be printed. */
function formsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').filter((line) => line.length > 20 && !line.startsWith('-----'));
  return [secret, ...lines, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)];
}

describeStores('the output of the processes and the audit trail', (kind) => {
  it('contain no secret of any kind, after calls that succeed, fail and are denied', async () => {
    const location = await kind.newLocation();
    const database =
      location.kind === 'sqlite' ? ['--data', location.directory] : ['--firestore', `${location.projectId}/(default)`];
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    let printed = '';
    // `pat create` shows the new token on standard output, and nowhere else.
    const command = async (args: readonly string[], showsToken = false) => {
      const { stdout, stderr, trail } = await identity([...args, ...database], { env: keyEnvironment(location) });
      printed += showsToken ? `${stderr}${trail}` : `${stdout}${stderr}${trail}`;
      return stdout;
    };
    const tokenFile = join(path, 'owner.pat');
    await command(['init', '--token-file', tokenFile]);
    const owner = await readFile(tokenFile, 'utf8');
    const [node, script] = identityProgram;
    const server = await startProgram(node, [script, 'serve', ...database, '--port', '0'], /listening on (\S+)/, {
      env: { ...keyEnvironment(location), LOG_LEVEL: 'debug', BCRYPT_COST: '10', STORAGE_EMULATOR_HOST: local.url },
    });
    onTestFinished(async () => void (await server.stop('SIGKILL')));
    const instance = { url: server.ready[1] ?? '', token: owner, database };

    await importInto(instance, { data_orgs: file });
    await importInto(instance, { data_orgsv1: JSON.stringify(file) });
    const exported = parseOk(
      await post(instance, 'export', { with_passwords: true, with_otp: true, with_keys: true, response_output: true }),
    );
    for (const secret of [secrets.hash, secrets.seed, secrets.clientSecret])
      expect(JSON.stringify(exported)).toContain(secret);
    const bucketPath = `${kind.name}.json`;
    const all = { with_passwords: true, with_otp: true };
    const { privateKey: key } = local.account;
    expect((await post(instance, 'export', { ...all, gcs_output: place(bucketPath, key) })).status).toBe(200);
    expect((await post(instance, 'import', { data_orgsv1_gcs: place(bucketPath, key) })).status).toBe(200);
    expect((await post(instance, 'export', { ...all, gcs_output: place(bucketPath, key) })).status).toBe(409);
    const foreign = await post(instance, 'export', { ...all, gcs_output: place('other.json', secrets.foreignKey) });
    expect(foreign.status).toBeGreaterThanOrEqual(400);
    const body = `{"data_orgs":{"orgs":[{"orgId":"X","humanUsers":[{"user":{"password":"${secrets.clearPassword}"`;
    expect((await send(instance, { method: 'POST', path: '/admin/v1/import', token: owner, body })).status).toBe(400);

    const restricted = shown.parse(
      JSON.parse(await command(['pat', 'create', '--user', 'ada', '--only', 'import', '--json'], true)),
    );
    expect((await post({ ...instance, token: restricted.token }, 'export', all)).status).toBe(403);
    expect((await post({ ...instance, token: restricted.token }, 'import', { data_orgs: file })).status).toBe(403);
    for (const token of [secrets.unknownToken, `${owner}x`, owner.slice(0, -1)])
      expect((await removeOtpEmail(instance, 'ada', token)).status).toBe(401);
    expect((await removeOtpEmail(instance, 'ada')).status).toBe(200);
    await command(['pat', 'list', '--user', 'ada']);
    await command(['user', 'list']);
    await command(['pat', 'revoke', '--all', '--user', 'ada']);
    if (kind.name === 'SQLite') {
      await command(['backup', join(path, 'backup')]);
      await command(['audit', '--json']);
    }
    const { stdout, stderr, code } = await server.stop('SIGTERM');
    expect(code).toBe(0);

    const text = `${printed}${stdout}${stderr}${trailOf(location)}`;
    const events = [
      'import.started',
      'export.finished',
      'otpEmail.removed',
      'export.denied',
      'import.denied',
      'command.patCreate',
    ];
    for (const event of events) expect(text).toContain(`"event":"${event}"`);
    const masterKey = await masterKeyOf(location);
    const used = { ...secrets, owner, restricted: restricted.token, bucketKey: key, masterKey };
    const leaked = Object.entries(used).filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)));
    expect(leaked.map(([name]) => name)).toEqual([]);
  });
});
