import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identity } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { emptyExport, startFakeInstance } from '../../support/places/fakeInstance.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const MANIFEST = /,"manifest":\{.*\}(?=\}\n$)/;
const JSON_TYPE = 'application/json';

/** Exports two people from an instance. */
async function exported(): Promise<string> {
  const instance = await testInstance(await openTestStore(sqlite));
  await instance.import({
    data_orgs: { orgs: [organisation('acme', { humanUsers: [person('ada'), person('bob')] })] },
  });
  return (await instance.attempt('export', { org_ids: ['acme'], response_output: true })).text;
}

/** Starts a server that gives these answers in turn, the last one for good, and returns it with a token's file. */
async function answering(answers: readonly string[], type = JSON_TYPE) {
  const remaining = [...answers];
  const { url } = await startFakeInstance((response) => {
    const text = remaining.length > 1 ? remaining.shift() : remaining[0];
    response.writeHead(200, { 'content-type': type }).end(text);
  });
  return { url, token: await tokenFileWith('some-token') };
}

/** The line with the problem. */
function message(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('identity: ')) ?? stderr;
}

const remedy =
  'check that the address leads to the instance, and that no gateway replaces, cuts or changes responses, then repeat the command';

function expectedMessage(url: string, problem: string): string {
  return `identity: ${url} returned a damaged export (${problem}): ${remedy}`;
}

const repeat = 'check the address and the token, repeat the export, and keep only a response with the status 200';
const missing = 'manifest: missing, although every export ends with a manifest';
const withoutManifest = (whole: string) => whole.replace(MANIFEST, '');
const BOB = /\{"userId":"bob".*?"USER_STATE_ACTIVE"\}/;
const withBobTwice = (whole: string) => whole.replace(BOB, (bob) => `${bob},${bob}`);
const bobTwice = 'manifest.counts.humanUsers: count mismatch: 2 in the manifest, 3 in the file';

type Damage = readonly [damage: (whole: string) => string, problem: string, type?: string];

/** The damages by their names. */
const damages: Readonly<Record<string, Damage>> = {
  'an empty object': [() => '{}', missing],
  "a gateway's answer": [
    () => '{"status":"ok"}',
    'orgs: missing list of organisations: expected {"orgs":[…]}; the file begins with status',
  ],
  "a gateway's page": [
    () => '<!DOCTYPE html><p>Sign in</p>',
    `the file is an HTML page, not an export file: ${repeat}; content type: text/html; charset=utf-8`,
    'text/html; charset=utf-8',
  ],
  nothing: [() => '', `the file is empty, not an export file: ${repeat}; content type: text/plain`, 'text/plain'],
  'an export without its manifest': [withoutManifest, missing],
  'one whose manifest is null': [(whole) => whole.replace(MANIFEST, ',"manifest":null'), missing],
  'one whose manifest is no object': [
    (whole) => whole.replace(MANIFEST, ',"manifest":[7]'),
    'manifest: expected an object',
  ],
  'one with two manifests': [
    (whole) => whole.replace(MANIFEST, (manifest) => manifest + manifest),
    'manifest: duplicate field "manifest"',
  ],
  'one that lacks a person': [
    (whole) => whole.replace(BOB, '').replace('},]', '}]'),
    'manifest.counts.humanUsers: count mismatch: 2 in the manifest, 1 in the file',
  ],
  'one that has a person twice': [withBobTwice, bobTwice],
  'one whose manifest counts a section with the name of a member of every object': [
    (whole) => whole.replace('"counts":{', '"counts":{"constructor":1,'),
    'manifest.counts.constructor: count mismatch: 1 in the manifest, 0 in the file',
  ],
  'one that lacks an organisation': [
    (whole) => whole.replace(/"orgs":\[.*\](?=,"manifest")/, '"orgs":[]'),
    ['orgs', 'org', 'humanUsers']
      .map(
        (name, index) => `manifest.counts.${name}: count mismatch: ${index < 2 ? 1 : 2} in the manifest, 0 in the file`,
      )
      .join('; '),
  ],
  ...Object.fromEntries(
    ['{}', '{"orgId":"x"}', '{"orgState":"ORG_STATE_ACTIVE"}'].map((entry): [string, Damage] => [
      `one with a further organisation that has no record: ${entry}`,
      [
        (whole) => whole.replace(/\](?=,"manifest")/, `,${entry}]`),
        'manifest.counts.orgs: count mismatch: 1 in the manifest, 2 in the file',
      ],
    ]),
  ),
  'one that ends too early': [
    (whole) => whole.slice(0, -200),
    'manifest: unexpected end of JSON input: the file is truncated',
  ],
  'one with more behind it': [
    (whole) => `${whole}{}`,
    'unexpected second document (use one document per file) after the end of the document',
  ],
};

const none = ['--with', 'none'];

describe('an export that arrives damaged from an instance', () => {
  it.each(Object.entries(damages))(
    'is not stored, and the error names the problem: %s',
    async (_name, [damage, problem, type]) => {
      const whole = await exported();
      expect(damage(whole)).not.toBe(whole);
      const { url, token } = await answering([damage(whole)], type);
      const directory = await testDirectory();
      for (const name of ['out.json', 'out.json.gz']) {
        const stored = await identity(['export', url, '--token-file', token, '--to', join(directory, name)]);
        expect(stored).toMatchObject({ code: 1, stdout: '' });
        expect(message(stored.stderr)).toBe(expectedMessage(url, problem));
      }
      expect(await readdir(directory)).toEqual([]);
      const printed = await identity(['export', url, '--token-file', token, '--to', '-']);
      expect({ code: printed.code, message: message(printed.stderr) }).toEqual({
        code: 1,
        message: expectedMessage(url, problem),
      });
    },
  );

  it('is reported with both digests if a record was changed', async () => {
    const whole = await exported();
    const { url, token } = await answering([whole.replace('"Last"', '"Lost"')]);
    const { code, stderr } = await identity(['export', url, '--token-file', token, '--to', '-']);
    expect(code).toBe(1);
    expect(message(stderr)).toMatch(
      /\(manifest\.digest: digest mismatch: sha256:[0-9a-f]{64} in the manifest, sha256:[0-9a-f]{64} in the file; remove `manifest` if you edited the file\): check/,
    );
  });

  it('leaves no object in a bucket', async () => {
    const whole = await exported();
    const { url, token } = await answering([withoutManifest(whole)]);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const key = ['--credentials-file', bucket.keyFile];
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const target = ['--to', 'gs://exports/out.json', ...key];
    const { code, stderr } = await identity(['export', url, '--token-file', token, ...target], { env });
    expect({ code, message: message(stderr) }).toEqual({ code: 1, message: expectedMessage(url, missing) });
    const read = await identity(['inspect', 'gs://exports/out.json', ...key], { env });
    expect(read).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
  });

  it.each([
    ['without a manifest', withoutManifest, missing],
    ['with another count', withBobTwice, bobTwice],
  ])('is neither imported, compared, inspected nor migrated: %s', async (_case, damage, problem) => {
    const whole = await exported();
    const target = await servedPlace(sqlite);
    const directory = await testDirectory();
    const file = join(directory, 'whole.json');
    await writeFile(file, whole);
    const calls = [
      (url: string, token: string) => ['import', url, '--from-token-file', token, '--to', target.database, ...none],
      (url: string, token: string) => [
        ...['import', url, '--from-token-file', token],
        ...['--to', target.url, '--to-token-file', target.tokenFile, ...none],
      ],
      (url: string, token: string) => ['compare', file, url, '--token-file', token],
      (url: string, token: string) => [
        'migrate',
        '--from',
        url,
        '--token-file',
        token,
        '--to',
        target.database,
        ...none,
        '--yes',
      ],
    ];
    for (const call of calls) {
      const { url, token } = await answering([emptyExport, damage(whole)]);
      const { code, stderr } = await identity(call(url, token));
      expect({ code, message: message(stderr) }).toEqual({
        code: 1,
        message: expect.stringContaining(expectedMessage(url, problem)),
      });
    }
    const { url, token } = await answering([damage(whole)]);
    const inspected = await identity(['inspect', url, '--token-file', token]);
    expect({ code: inspected.code, message: message(inspected.stderr) }).toEqual({
      code: 1,
      message: expectedMessage(url, problem),
    });
    const after = await identity(['export', target.database, '--to', '-', '--org', 'acme']);
    expect(after).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have organisation acme') });
  });

  it('is recognised before the export if every call gets this response', async () => {
    const target = await servedPlace(sqlite);
    const { url, token } = await answering(['{"status":"ok"}']);
    const { code, stderr } = await identity([
      ...['import', url, '--from-token-file', token],
      ...['--to', target.database, ...none],
    ]);
    const problem = 'orgs: missing list of organisations: expected {"orgs":[…]}; the file begins with status';
    expect({ code, message: message(stderr) }).toEqual({ code: 1, message: expectedMessage(url, problem) });
  });
});

describe('an export from an instance', () => {
  it.each([
    ['that a gateway has labelled otherwise', (whole: string) => whole, 'application/octet-stream'],
    ['that begins with its manifest', manifestFirst, JSON_TYPE],
  ])('is stored as it was sent if its manifest proves it, also one %s', async (_case, change, type) => {
    const sent = change(await exported());
    const { url, token } = await answering([sent], type);
    const file = join(await testDirectory(), 'out.json');
    const { code, stderr } = await identity(['export', url, '--token-file', token, '--to', file]);
    expect(code, stderr).toBe(0);
    expect((await readFile(file)).toString()).toBe(sent);
  });
});

function manifestFirst(whole: string): string {
  const { manifest, ...rest } = JSON.parse(whole);
  return JSON.stringify({ manifest, ...rest });
}
