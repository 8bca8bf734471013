import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { identity } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { startWriteOnlyBucket } from '../../support/emulators/writeOnlyBucket.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { describeStores, keyEnvironment, sqlite } from '../../support/stores/stores.ts';

const result = z.object({
  checks: z.array(z.object({ subject: z.string(), status: z.string(), message: z.string() })),
});

/** Runs the doctor, and returns its exit code and its findings by their subjects. */
async function examine(args: readonly string[], env: Readonly<Record<string, string | undefined>> = {}) {
  const { code, stdout, stderr } = await identity(['doctor', ...args, '--json'], { env });
  expect(stdout, stderr).not.toBe('');
  const { checks } = result.parse(JSON.parse(stdout));
  return { code, ...Object.fromEntries(checks.map(({ subject, status, message }) => [subject, [status, message]])) };
}

describeStores('identity doctor', (kind) => {
  it('finds nothing wrong with an instance and its database', { timeout: 240_000 }, async () => {
    const { url, tokenFile, database, location } = await servedPlace(kind);
    const good = ['ok', expect.any(String)];
    const server = await examine([url, '--token-file', tokenFile]);
    const tokens = { 'token for exports': good, 'token for imports': good };
    expect(server).toEqual({ code: 0, address: good, clock: good, database: good, ...tokens });
    const files = { disk: good };
    const env = keyEnvironment(location);
    const expected = { code: 0, database: good, ...(location.kind === 'sqlite' ? files : {}) };
    expect(await examine([database], env)).toEqual(expected);
  });
});

describe('identity doctor', { timeout: 240_000 }, () => {
  it('says what is wrong with an instance, and does not send its token to another service', async () => {
    const { url } = await servedPlace(sqlite);
    const token = join(await testDirectory(), 'token.pat');
    await writeFile(token, 'some-token', { mode: 0o600 });
    const rejected = expect.stringContaining(`${url} rejects the token of --token-file`);
    expect(await examine([url, '--token-file', token])).toMatchObject({
      code: 1,
      'token for exports': ['failed', rejected],
      'token for imports': ['failed', rejected],
    });
    expect(await examine([url])).toMatchObject({ code: 0, token: ['warning', 'not checked: specify --token-file'] });
    const unreachable = { code: 1, address: ['failed', expect.stringContaining('cannot be reached (ECONNREFUSED)')] };
    expect(await examine(['http://127.0.0.1:9', '--token-file', token])).toEqual(unreachable);
  });

  it('compares the clocks', async () => {
    const late = await startFakeInstance((response) => void response.end('{}'), new Date(Date.now() - 3_600_000));
    expect(await examine([late.url])).toMatchObject({
      clock: [
        'warning',
        expect.stringMatching(/^this machine is 3[56]\d\d s ahead of the server: let NTP set both clocks$/),
      ],
    });
  });

  it('says what is wrong with files, directories, buckets and the configuration', async () => {
    const { location, database } = await servedPlace(sqlite);
    const directory = await testDirectory();
    const file = join(directory, 'half.json');
    await writeFile(file, '{"orgs":[');
    expect(await examine([file])).toMatchObject({
      code: 1,
      file: ['failed', `${file} is no intact export file: unexpected end of JSON input`],
      'file permissions': ['warning', `others can read ${file}: run chmod 600 ${file}`],
    });
    const free = { code: 0, file: ['ok', expect.stringContaining('does not exist, and can be written')] };
    expect(await examine([join(directory, 'new.json')])).toMatchObject(free);
    const data = location.kind === 'sqlite' ? location.directory : '';
    await chmod(data, 0o777);
    const writable = ['failed', `others can change ${data}: run chmod go-w ${data}`];
    expect(await examine([database])).toEqual({ code: 1, database: writable });
    const missing = ['failed', `no instance in ${directory}: create one with identity init`];
    expect(await examine([`sqlite:${directory}`])).toEqual({ code: 1, database: missing });
    expect(await examine([], { DATA_DIR: directory, LOG_LEVEL: 'loud', MAX_IMPORTS: 'x' })).toMatchObject({
      code: 1,
      configuration: ['failed', expect.stringMatching(/^LOG_LEVEL must be one of .+; MAX_IMPORTS must be /)],
    });
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const object = ['gs://exports/a.json', '--credentials-file', bucket.keyFile];
    const nameFree = ['ok', 'bucket and credentials are good, and the name is free'];
    expect(await examine(object, { STORAGE_EMULATOR_HOST: bucket.url })).toEqual({ code: 0, object: nameFree });
    const unreadable = ['warning', expect.stringContaining('grant the service account the role Storage Object Viewer')];
    const writeOnly = { STORAGE_EMULATOR_HOST: await startWriteOnlyBucket(bucket.url) };
    expect(await examine(object, writeOnly)).toEqual({ code: 0, object: unreadable });
  });
});
