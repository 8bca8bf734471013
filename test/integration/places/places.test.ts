import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { exportFile } from '../../../shared/exportFile/manifest.ts';
import { run } from '../../../tools/program.ts';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { grantedRobot } from '../../support/fixtures/grantedRobot.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { post } from '../../support/http/wire.ts';
import { readResult } from '../../support/migrations/migrating.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const sample = {
  orgs: [
    organisation('acme', { humanUsers: [person('ada', { hashedPassword: { value: HASH } })] }),
    organisation('emca', { humanUsers: [person('bob')] }),
  ],
};
const counts = { organisations: 2, records: 4 };
const result = z.looseObject({ event: z.literal('result'), manifest: z.unknown().optional() });

/** The last line of `--json`. */
function lastEvent(stdout: string): z.infer<typeof result> {
  return result.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

function organisations(bytes: Buffer): unknown {
  const text = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
  return exportFile.parse(JSON.parse(text.toString())).orgs;
}

describe('places', () => {
  it('export to and import from every other place', async () => {
    const north = await servedPlace(sqlite);
    const south = await servedPlace(sqlite);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const directory = await testDirectory();
    const key = bucket.keyFile;
    const env = { ...keyEnvironment(north.location), STORAGE_EMULATOR_HOST: bucket.url };
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await identity([...args, '--json'], { env });
      expect(code, stderr).toBe(0);
      return lastEvent(stdout);
    };
    const sampleFile = join(directory, 'sample.json');
    await writeFile(sampleFile, JSON.stringify(sample));
    const created = { summary: { created: { org: 2, humanUsers: 2 }, failed: {} } };
    expect(await command('import', sampleFile, '--to', north.database)).toMatchObject(created);

    const all = ['--exclude-org', north.orgId, '--with', 'passwords,otp,keys'];
    const plain = join(directory, 'plain.json');
    const compressed = join(directory, 'compressed.json.gz');
    expect(await command('export', north.database, '--to', plain, ...all)).toMatchObject(counts);
    const fromServer = ['export', north.url, '--token-file', north.tokenFile, ...all];
    expect(await command(...fromServer, '--to', compressed)).toMatchObject(counts);
    const exported = organisations(await readFile(plain));
    expect(exported).toMatchObject([{ orgId: 'acme' }, { orgId: 'emca' }]);
    expect(JSON.stringify(exported)).toContain(HASH);
    expect((await readFile(compressed))[0]).toBe(0x1f);
    expect(organisations(await readFile(compressed))).toEqual(exported);
    expect((await stat(plain)).mode & 0o777).toBe(0o600);
    const object = 'gs://exports/plain.json';
    const compressedObject = 'gs://exports/compressed.json.gz';
    expect(await command(...fromServer, '--to', object, '--credentials-file', key)).toMatchObject(counts);
    await calling({ env: { ...env, GOOGLE_APPLICATION_CREDENTIALS: key } })(
      `export ${north.database} ${all.join(' ')} --to ${compressedObject} --json`,
      0,
    );
    const piped = await identity(['export', north.database, ...all, '--to', '-'], { env });
    expect(organisations(Buffer.from(piped.stdout))).toEqual(exported);
    expect(piped.stderr).toMatch(/exported 2 organisations with 4 records to standard output, [\d,]+ bytes\n/);

    const unchanged = { summary: { created: {}, unchanged: { org: 2, humanUsers: 2 }, proved: true } };
    const toServer = ['--to', south.url, '--to-token-file', south.tokenFile];
    expect(await command('import', plain, ...toServer)).toMatchObject(created);
    expect(await command('import', compressed, '--to', south.database)).toMatchObject(unchanged);
    expect(await command('import', object, ...toServer, '--credentials-file', key)).toMatchObject(unchanged);
    const fromObject = ['import', compressedObject, '--to', south.database, '--credentials-file', key];
    expect(await command(...fromObject)).toMatchObject(unchanged);
    const between = ['import', north.url, '--from-token-file', north.tokenFile, ...all];
    expect(await command(...between, ...toServer)).toMatchObject(unchanged);
    expect(await command(...between, '--to', south.database)).toMatchObject(unchanged);
    expect(await command('import', north.database, ...all, ...toServer)).toMatchObject(unchanged);
    expect(await command('import', north.database, ...all, '--to', south.database)).toMatchObject(unchanged);
    const [program, script] = identityProgram;
    const pipe = ['-c', 'cat "$1" | "$0" "$2" import - --to "$3" --json', program, compressed, script, south.database];
    expect(lastEvent((await run('/bin/sh', pipe, { env })).stdout)).toMatchObject(unchanged);
  });
});

const orgs = [organisation('acme', { humanUsers: [person('ada')] })];
const typo = {
  secrets: { passwords: false, otp: true, keys: false },
  ignored: [{ field: 'with_password', nearest: 'with_passwords' }],
};
const lines = [
  "the export contains the source's otp, if any",
  'the exporting instance ignored the unknown field with_password: the nearest known field is with_passwords',
];

describe('the commands on places', () => {
  it('show the secrets and the typo of a request that a manifest names', async () => {
    const { url, token, database } = await servedPlace(sqlite);
    const instance = { url, token, database: undefined };
    await post(instance, 'import', { data_orgs: { orgs } });
    const request = { with_password: true, with_otp: true, org_ids: ['acme'], response_output: true };
    const exported = await post(instance, 'export', request);
    const directory = await testDirectory();
    const file = join(directory, 'a.json');
    await writeFile(file, exported.text);
    const copy = join(directory, 'b.json.gz');
    const calls = [
      ['export', file, '--to', copy],
      ['import', copy, '--to', database, '--dry-run'],
      ['inspect', copy],
    ];
    for (const call of calls) {
      const { code, stdout, stderr } = await identity([...call, '--json']);
      expect(code, stderr).toBe(0);
      const { manifest, ...printed } = lastEvent(stdout);
      expect(call[0] === 'inspect' ? manifest : printed).toMatchObject(typo);
    }
    for (const call of [['export', file, '--to', join(directory, 'c.json')], ...calls.slice(1)]) {
      const { stdout } = await identity(call);
      for (const line of lines) expect(stdout.split('\n')).toContain(line);
    }
  });
});

describe('an organisation that --org names and the source does not have', () => {
  it('is a wrong call of every verb, which changes nothing', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const file = join(await testDirectory(), 'orgs.json');
    await writeFile(file, JSON.stringify({ orgs }));
    await call(`import ${file} --to ${north.database}`, 0);
    const directory = await testDirectory();
    const copy = join(directory, 'copy.json');
    const only = ['--org', 'acme', ...Array.from({ length: 12 }, (_, index) => ['--org', `no-${index}`]).flat()];
    const ten = Array.from({ length: 10 }, (_, index) => `no-${index}`).join(', ');
    const migration = ['--to', copy, '--with', 'none'];
    const remote = [north.url, '--from-token-file', north.tokenFile];
    for (const [source, ...options] of [[file], [north.database], remote]) {
      const own = options.map((option) => option.replace('--from-', '--'));
      const lacks = `identity: ${source} does not have organisations ${ten} and 2 more: correct --org; nothing is changed`;
      const calls = [
        ...(source === file ? [] : [['export', source ?? '', ...own, '--to', copy]]),
        ['inspect', source ?? '', ...own],
        ['import', source ?? '', ...options, '--with', 'none', '--to', south.url, '--to-token-file', south.tokenFile],
        ['import', source ?? '', ...own, '--to', south.database, '--with', 'none'],
        ...(source === file
          ? []
          : [
              ['migrate', '--from', source ?? '', ...own, ...migration, '--yes'],
              ['migrate', '--dry-run', '--from', source ?? '', ...own, ...migration],
            ]),
      ];
      for (const call of calls) {
        const { code, stderr } = await identity([...call, ...only]);
        expect(
          { code, line: stderr.split('\n').find((line) => line.startsWith('identity: ')) },
          call.join(' '),
        ).toEqual({ code: 64, line: lacks });
      }
    }
    const { code, stderr } = await identity(['compare', file, south.database, ...only]);
    expect(code).toBe(64);
    expect(stderr).toContain(
      `identity: neither ${file} nor ${south.database} has organisations ${ten} and 2 more: correct --org`,
    );
    expect(await readdir(directory)).toEqual([]);
    await call(`export ${south.database} --to ${copy} --org acme`, 64);
  });
});

const SEED = 'JBSWY3DPEHPK3PXP';
const withSecrets = [
  {
    ...grantedRobot[0],
    humanUsers: [
      { ...person('ada', { hashedPassword: { value: HASH }, otpCode: SEED }), otpEmail: true },
      person('bob', { password: 'Clear-password-1' }),
    ],
  },
];
/** What `--with` names, and the kinds of secrets in the file that it does not. */
const choices = [
  ['none', 'passwords, otp, keys'],
  ['passwords', 'otp, keys'],
  ['otp', 'passwords, keys'],
  ['passwords,otp', 'keys'],
] as const;

/** The kinds of secrets that an export holds. */
function kindsIn(bytes: Buffer): string[] {
  const text = JSON.stringify(organisations(bytes));
  const kinds = { passwords: HASH, otp: SEED, keys: 'machineKeys' };
  return Object.entries(kinds).flatMap(([kind, secret]) => (text.includes(secret) ? [kind] : []));
}

async function newDatabase() {
  const location = await sqlite.newLocation();
  await identityJson(['init', ...databaseOptions(location)]);
  return placeOfLocation(location);
}

/** A file with all secrets and a manifest. */
async function fileWithSecrets(path: string) {
  const database = await newDatabase();
  const raw = { stdin: JSON.stringify({ orgs: withSecrets }) };
  await calling(raw)(`import - --to ${database} --with all`, 0);
  const { code, stderr } = await identity(['export', database, '--org', 'a', '--to', path, '--with', 'all']);
  expect(code, stderr).toBe(0);
}

describe('the secrets of a file', () => {
  it.each(choices)('make a call with --with %s a wrong one, which changes nothing', async (given, others) => {
    const [directory, database] = [await testDirectory(), await newDatabase()];
    const file = join(directory, 'whole.json.gz');
    await fileWithSecrets(file);
    const to = ['--to', database, '--with', given];
    const calls = [
      { args: ['import', file, ...to], name: file },
      { args: ['import', '-', ...to], name: '-', stdin: JSON.stringify({ orgs: withSecrets }) },
      { args: ['migrate', '--from', file, ...to, '--yes'], name: file },
      { args: ['migrate', '--dry-run', '--from', file, ...to], name: file },
    ];
    for (const { args, name, ...input } of calls) {
      const { code, stderr } = await identity(args, input);
      const remedy = `add ${others.replaceAll(', ', ',')} to --with, or export the source again without these secrets; nothing is changed`;
      const problem = `identity: ${name} contains ${others}, and an import includes all secrets of the file: ${remedy}\n`;
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(problem) });
    }
    expect(await readdir(directory)).toEqual(['whole.json.gz']);
    await call(`export ${database} --to - --org a`, 64);
    const copying = ['export', file, '--to', join(directory, 'copy.json'), '--with', given];
    await call(copying, 64, 'with all organisations and secrets');
  });

  it.each([[], ['--with', 'all']])('are all imported and migrated with the options %j', async (...options) => {
    const directory = await testDirectory();
    const file = join(directory, 'whole.json.gz');
    await fileWithSecrets(file);
    const calls = [{ args: [file] }, { args: ['-'], stdin: JSON.stringify({ orgs: withSecrets }) }];
    for (const [index, { args, ...input }] of calls.entries()) {
      const database = await newDatabase();
      const { stdout, stderr } = await identity(['import', ...args, '--to', database, ...options, '--json'], input);
      expect(lastEvent(stdout), stderr).toMatchObject({ summary: { proved: index === 0, failed: {}, notCarried: {} } });
      const after = join(directory, `${index}.json`);
      await identity(['export', database, '--org', 'a', '--to', after, '--with', 'all']);
      expect(kindsIn(await readFile(after))).toEqual(['passwords', 'otp', 'keys']);
    }
    const migrated = join(directory, 'moved.json.gz');
    const move = ['migrate', '--from', file, '--to', migrated, ...options, '--yes', '--json'];
    const { stdout, stderr } = await identity(move);
    expect(readResult(stdout), stderr).toMatchObject({
      options: { secrets: ['passwords', 'otp', 'keys'] },
      proof: { unexpected: 0, sourceUnchanged: true },
    });
    expect(gunzipSync(await readFile(migrated))).toEqual(gunzipSync(await readFile(file)));
  });

  it('may be fewer than --with names', async () => {
    const [directory, database] = [await testDirectory(), await newDatabase()];
    const file = join(directory, 'none.json');
    await writeFile(file, JSON.stringify({ orgs }));
    await call(`import ${file} --to ${database} --with passwords`, 0);
    const copy = ['--to', join(directory, 'copy.json'), '--with', 'passwords', '--yes'];
    const moved = await identity(['migrate', '--from', file, ...copy]);
    expect(moved, moved.stderr).toMatchObject({ code: 0 });
  });

  it.each([
    ['truncated', (text: string) => text.slice(0, -100), 'is not an intact export file ('],
    ['edited', (text: string) => text.replace('"Last"', '"Lost"'), 'digest mismatch'],
    [
      'extended by an unknown field',
      (text: string) => text.replace('"lastName":', '"colour":"red",$&'),
      'digest mismatch',
    ],
    [
      'edited to an unknown value',
      (text: string) => text.replace('"lastName":', '"gender":"GENDER_X",$&'),
      'digest mismatch',
    ],
  ])('do not keep a file that was %s from being rejected before the first write', async (_case, change, message) => {
    const [directory, database] = [await testDirectory(), await newDatabase()];
    const [whole, file] = [join(directory, 'whole.json'), join(directory, 'changed.json')];
    await fileWithSecrets(whole);
    await writeFile(file, change((await readFile(whole)).toString()));
    const to = ['--to', database, '--with', 'none'];
    const migrate = ['migrate', '--from', file, ...to, '--yes'];
    for (const call of [['import', file, ...to], migrate]) await calling()(call, 1, message);
    await call(`export ${database} --to - --org a`, 64);
  });
});

describe('a file without organisations', () => {
  it.each(['{}', '{"orgs":[]}', '{"orgs":null}'])('is a wrong call to import and to migrate: %s', async (text) => {
    const [{ url, tokenFile }, database, directory] = [
      await servedPlace(sqlite),
      await newDatabase(),
      await testDirectory(),
    ];
    const file = join(directory, 'empty.json');
    await writeFile(file, text);
    const remote = ['--to', url, '--to-token-file', tokenFile];
    const calls = [
      ['import', file, '--to', database],
      ['import', file, ...remote],
      ['import', file, '--to', database, '--with', 'none'],
      ['migrate', '--from', file, '--to', database, '--yes'],
      ['migrate', '--dry-run', '--from', file, ...remote, '--with', 'all'],
    ];
    for (const call of calls) {
      const { code, stderr } = await identity(call);
      const problem = `identity: ${file} has no organisations: specify an export file with organisations\n`;
      expect({ code, stderr }, call.join(' ')).toEqual({ code: 64, stderr: expect.stringContaining(problem) });
    }
    expect(await readdir(directory)).toEqual(['empty.json']);
  });
});

describe('a manifest of another tool', () => {
  it.each([
    ['no object', '7'],
    ['other secrets', '{"version":1,"secrets":{"passwords":"yes"},"ignored":[7]}'],
  ])('is no matter of a copy: %s', async (_case, manifest) => {
    const directory = await testDirectory();
    const file = join(directory, 'a.json');
    await writeFile(file, `${JSON.stringify({ orgs }).slice(0, -1)},"manifest":${manifest}}`);
    const { stdout } = await call(['export', file, '--to', join(directory, 'b.json')], 0);
    expect(stdout).toMatch(/^exported 1 organisation [^\n]*\n$/);
  });
});
