import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { exportFile, type Manifest } from '../../../shared/exportFile/manifest.ts';
import { identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { startWriteOnlyBucket } from '../../support/emulators/writeOnlyBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
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
  it('moves through a file, an object and a pipe', { timeout: 240_000 }, async () => {
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
      target: { kind: 'database', digest: filled.source.digest, instance: expect.any(String) },
      moved: { imported: { created: { org: 2, humanUsers: 2 } } },
    });
    const copy = join(await testDirectory(), 'copy.json.gz');
    const stored = await move(north.database, copy);
    expect(stored).toMatchObject({
      target: { kind: 'file', place: copy, bytes: expect.any(Number), digest: stored.source.digest },
      proof: { method: 'fields', sections: { org: { equal: 2 }, humanUsers: { equal: 2 } }, unexpected: 0 },
    });
    // Nobody logs in at a file.
    expect(stored).not.toHaveProperty('logins');
    const { manifest, orgs } = await exported(copy);
    expect(orgs.map(({ orgId }) => orgId)).toEqual(['acme', 'emca']);
    expect(manifest.digest).toBe(stored.source.digest);
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
          /has confirmed \d,\d{3} bytes with the checksum \S{8} \(CRC32C\), and its manifest/,
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
      const { code, stderr } = await identity(['migrate', ...args], { env: writeOnly, cwd });
      expect({ code, stderr }).toEqual({ code: 1, stderr: `identity: ${exists}\n` });
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
  it('leaves the default organisation and the caller behind, unless the organisation is named', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const database = databaseOptions(north.location);
    const created = z.looseObject({ userId: z.string() });
    const { userId } = created.parse(await identityJson(['service-user', 'create', 'mover', ...database]));
    await identityJson(['member', 'add', '--user', userId, '--role', 'IAM_OWNER', ...database]);
    await identityJson(['member', 'add', '--user', userId, '--role', 'ORG_OWNER', '--org', north.orgId, ...database]);
    const { token } = z
      .looseObject({ token: z.string() })
      .parse(await identityJson(['pat', 'create', '--user', userId, ...database]));
    const tokenFile = join(await testDirectory(), 'mover.pat');
    await writeFile(tokenFile, token, { mode: 0o600 });
    await identity(['import', await exportFileWith(...sample), '--to', north.database]);
    const target = join(await testDirectory(), 'north.json');
    const args = ['--from', north.url, '--from-token-file', tokenFile, '--yes', ...secrets];
    const migrating = await prepareMigration(north);
    const orgs = ['--org', 'acme', '--org', north.orgId];
    const result = await migrate([...args, '--to', target, ...orgs], migrating);
    expect(result).toMatchObject({ outcome: 'done', leftOut: [], proof: { unexpected: 0, sourceUnchanged: true } });
    const file = await exported(target);
    expect(file.orgs.map(({ orgId }) => orgId).toSorted()).toEqual(['acme', north.orgId].toSorted());
    expect(JSON.stringify(file.orgs)).not.toContain(userId);
    expect(JSON.stringify(file.orgs)).toContain('identity');
    const proved: Manifest = file.manifest;
    expect(proved.counts.machineUsers).toBe(1);
    const imported = await identity(['import', target, '--to', south.database, '--org', 'acme', '--json']);
    expect(JSON.parse(imported.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ summary: { proved: true } });
  });

  it('compares more organisations than a request names, and lists the first of them', async () => {
    const south = await servedPlace(sqlite);
    const count = 1_100;
    const file = await exportFileWith(...Array.from({ length: count }, (_, index) => organisation(`org-${index}`)));
    const to = ['--to', south.url, '--to-token-file', south.tokenFile];
    const result = await migrate(['--from', file, ...to, '--with', 'none', '--yes'], await prepareMigration(south));
    expect(result).toMatchObject({
      outcome: 'done',
      organisationsOmitted: 100,
      moved: { organisations: count, imported: { created: { org: count } } },
      proof: { unexpected: 0, expected: 0, sections: { org: { equal: count } } },
    });
    expect(result.organisations).toHaveLength(1_000);
    // The target's export holds other organisations too.
    expect(result.target.digest).toBeUndefined();
  });

  it('leaves the default organisation of a file behind, and takes the selected ones', async () => {
    const north = await servedPlace(sqlite);
    await identity(['import', await exportFileWith(...sample), '--to', north.database]);
    const whole = join(await testDirectory(), 'whole.json');
    expect((await identity(['export', north.database, '--to', whole, ...secrets])).code).toBe(0);
    const migrating = await prepareMigration(north);
    const to = async () => join(await testDirectory(), 'part.json');
    const [all, one] = [await to(), await to()];
    const result = await migrate(['--from', whole, '--to', all, '--yes', ...secrets], migrating);
    expect(result.leftOut).toMatchObject([{ orgId: north.orgId }]);
    const unchanged = ({ source, target, proof }: typeof result) => {
      expect(proof).toMatchObject({ unexpected: 0, sourceUnchanged: true });
      expect(source.digest).toBe(target.digest);
    };
    unchanged(result);
    expect((await exported(all)).orgs.map(({ orgId }) => orgId)).toEqual(['acme', 'emca']);
    const others = ['--to', one, '--with', 'none', '--exclude-org', 'acme', '--yes'];
    unchanged(await migrate(['--from', whole, ...others], await prepareMigration(north)));
    expect((await exported(one)).orgs.map(({ orgId }) => orgId)).toEqual(['emca']);
    const acme = await to();
    expect((await identity(['export', north.database, '--to', acme, '--org', 'acme'])).code).toBe(0);
    const plan = ['migrate', 'plan', '--from', acme, '--to', await to(), '--with', 'none'];
    const planned = await identity(plan, await prepareMigration(north));
    expect(planned, planned.stderr).toMatchObject({ code: 0, stdout: expect.not.stringContaining('Left out') });
  });
});
