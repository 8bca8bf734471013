import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { MigrationPlan } from '../../../cli/migrate/migrationTypes.ts';
import { exportFile } from '../../../shared/exportFile/manifest.ts';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { startWriteOnlyBucket } from '../../support/emulators/writeOnlyBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, planOf, prepareMigration } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { describeStores, sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const secrets = ['--with', 'passwords,otp,keys'];
const sample = [
  organisation('acme', { humanUsers: [person('ada', { hashedPassword: { value: HASH } })] }),
  organisation('emca', { humanUsers: [person('bob')] }),
];

async function exported(path: string) {
  const bytes = await readFile(path);
  return exportFile.parse(JSON.parse((bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()));
}

describeStores('identity migrate from and to a database', (kind) => {
  it('moves through a file, an object and a pipe', async () => {
    const [north, south] = [await servedPlace(kind), await servedPlace(kind)];
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const key = ['--credentials-file', bucket.keyFile];
    const base = await prepareMigration(north);
    const env = { ...base.env, STORAGE_EMULATOR_HOST: bucket.url };
    const writeOnly = { ...env, STORAGE_EMULATOR_HOST: await startWriteOnlyBucket(bucket.url) };
    const moveIn = async (environment: typeof env, from: string, to: string, ...more: string[]) =>
      migrate(['--from', from, '--to', to, ...secrets, '--yes', ...more], {
        env: environment,
        cwd: await testDirectory(),
      });
    const move = (from: string, to: string, ...more: string[]) => moveIn(env, from, to, ...more);
    const file = await exportFileWith(...sample);
    const filled = await move(file, north.database);
    expect(filled).toMatchObject({
      outcome: 'done',
      source: { kind: 'file' },
      target: { kind: 'database', instance: expect.any(String) },
      moved: { imported: { created: { org: 2, humanUsers: 2 } } },
    });
    const copy = join(await testDirectory(), 'copy.json.gz');
    const stored = await move(north.database, copy);
    expect(stored).toMatchObject({
      target: { kind: 'file', place: copy, bytes: expect.any(Number) },
      proof: { method: 'fields', sections: { org: { equal: 2 }, humanUsers: { equal: 2 } }, unexpected: 0 },
    });
    // A file has no people of its own.
    expect(stored).not.toHaveProperty('credentials');
    const { orgs } = await exported(copy);
    expect(orgs.map(({ orgId }) => orgId)).toEqual(['acme', 'emca']);
    const object = 'gs://exports/north.json.gz';
    expect(await move(copy, object, ...key)).toMatchObject({
      target: { kind: 'object', place: object, crc32c: expect.any(String), generation: expect.any(String) },
      proof: { method: 'fields', unexpected: 0 },
    });
    const unread = await moveIn(writeOnly, north.database, 'gs://exports/unread.json', ...key);
    expect(unread).toMatchObject({
      outcome: 'done',
      proof: {
        method: 'checksum',
        description: expect.stringMatching(
          /Cloud Storage confirmed \d,\d{3} bytes with the checksum \S{8} \(CRC32C\)$/,
        ),
      },
    });
    for (const [to, exists] of [
      [copy, `${copy} exists: choose another name`],
      [
        'gs://exports/unread.json',
        'gs://exports/unread.json: the object exists and is never overwritten: choose another path',
      ],
    ] as const) {
      const args = ['--from', north.database, '--to', to, ...secrets, '--yes', ...(to === copy ? [] : key)];
      const cwd = await testDirectory();
      await calling({ env: writeOnly, cwd })(`migrate ${args.join(' ')}`, 1, `identity: ${exists}\n`);
      expect(await readdir(cwd)).toEqual([]);
    }
    const back = ['--to-token-file', south.tokenFile, ...key];
    expect(await move(object, south.url, ...back)).toMatchObject({
      source: { kind: 'object' },
      moved: { imported: { created: { org: 2, humanUsers: 2 } } },
      proof: { unexpected: 0 },
    });
  });
});

describe('identity migrate', () => {
  it('moves the default organisation if --org names it, and its plan lists the user of the token in there', async () => {
    const north = await servedPlace(sqlite);
    const database = databaseOptions(north.location);
    await identity(['import', await exportFileWith(...sample), '--to', north.database]);
    const tokenFile = join(await testDirectory(), 'mover.pat');
    const prepared = await identityJson(['migrate', 'prepare', '--token-file', tokenFile, ...database]);
    const { userId } = z.looseObject({ userId: z.string() }).parse(prepared);
    const target = join(await testDirectory(), 'north.json');
    const from = ['--from', north.url, '--from-token-file', tokenFile, '--yes', ...secrets];
    const orgs = ['--org', 'acme', '--org', north.orgId];
    const migrating = await prepareMigration(north);
    const plan = await planOf([...from, '--to', target, ...orgs], migrating);
    const result = await migrate([...from, '--to', target, ...orgs], migrating);
    expect(result).toMatchObject({ outcome: 'done', leftOut: [], proof: { unexpected: 0, sourceUnchanged: true } });
    const file = await exported(target);
    expect(file.orgs.map(({ orgId }) => orgId).toSorted()).toEqual(['acme', north.orgId].toSorted());
    expect(warningsOf(plan)).toEqual([
      expect.stringMatching(`^the export contains the user ${userId}, who exported the source: `),
    ]);
    const others = await migrate([...from, '--to', join(await testDirectory(), 'rest.json')], migrating);
    expect(others.leftOut).toMatchObject([{ orgId: north.orgId }]);
  });

  it('compares more organisations than a request names, and lists all of them', async () => {
    const south = await servedPlace(sqlite);
    const count = 1_100;
    const file = await exportFileWith(...Array.from({ length: count }, (_, index) => organisation(`org-${index}`)));
    const to = ['--to', south.url, '--to-token-file', south.tokenFile];
    const result = await migrate(['--from', file, ...to, '--with', 'none', '--yes'], await prepareMigration(south));
    expect(result).toMatchObject({
      outcome: 'done',
      moved: { organisations: count, imported: { created: { org: count } } },
      proof: { unexpected: 0, expected: 0, sections: { org: { equal: count } } },
    });
    expect(result.organisations).toHaveLength(count);
  });

  it('takes a file as it is, and its plan warns of what it has besides: the default organisation, and who exported it', async () => {
    const north = await servedPlace(sqlite);
    await identity(['import', await exportFileWith(...sample), '--to', north.database]);
    const whole = join(await testDirectory(), 'whole.json');
    const fromNorth = ['export', north.url, '--token-file', north.tokenFile, '--with', 'passwords'];
    const named = ['acme', 'emca', north.orgId].flatMap((orgId) => ['--org', orgId]);
    await call(`${fromNorth.join(' ')} --to ${whole} ${named.join(' ')}`, 0);
    const { manifest } = await exported(whole);
    const migrating = await prepareMigration(north);
    const copy = join(migrating.cwd, 'copy.json');
    const plan = await planOf(['--from', whole, '--to', copy], migrating);
    const result = await migrate(['--from', whole, '--to', copy, '--yes'], migrating);
    expect(result).toMatchObject({
      options: { secrets: ['passwords'] },
      leftOut: [],
      proof: { unexpected: 0, sourceUnchanged: true },
    });
    expect(await exported(copy)).toEqual(await exported(whole));
    expect(plan.organisations.map(({ orgId }) => orgId).toSorted()).toEqual(['acme', 'emca', north.orgId].toSorted());
    expect(plan).toMatchObject({ sections: { org: 3, humanUsers: 2 }, secrets: { found: { passwordHashes: 1 } } });
    expect(warningsOf(plan)).toEqual([
      `${whole} contains ${north.orgId}, the default organisation of its source: to exclude this organisation, export again with --exclude-org ${north.orgId}`,
      expect.stringContaining(`the export contains the user ${manifest.exportedBy?.userId}, who exported the source`),
    ]);
    const part = join(migrating.cwd, 'part.json');
    await call(`${fromNorth.join(' ')} --to ${part}`, 0);
    const to = ['--to', join(migrating.cwd, 'rest.json')];
    expect(warningsOf(await planOf(['--from', part, ...to], migrating))).toEqual([]);
  });

  it.each(['--org', '--exclude-org'])('of a file with %s is a wrong call, which leaves nothing', async (option) => {
    const file = await exportFileWith(...sample);
    const cwd = await testDirectory();
    for (const more of [[], ['--dry-run']]) {
      const call = ['migrate', ...more, '--from', file, '--to', 'copy.json', option, 'acme'];
      await calling({ cwd })(
        call,
        64,
        `a migration moves all organisations of the file ${file}, so --org and --exclude-org have no effect: `,
      );
    }
    expect(await readdir(cwd)).toEqual([]);
  });
});

function warningsOf({ checks }: MigrationPlan): string[] {
  return checks.filter(({ status }) => status === 'warning').map(({ message }) => message);
}
