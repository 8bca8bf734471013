import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identity } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const acme = organisation('acme');

async function newRunDirectory() {
  return join(await testDirectory(), 'run');
}

describe('identity migrate cleanup', { timeout: 120_000 }, () => {
  it('asks, says how to delete service users of instances, warns of tokens, and removes the run directory', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await identity(['import', await exportFileWith(acme), '--to', north.database]);
    const directory = await newRunDirectory();
    await migrate([...betweenServers(north, south), '--run-dir', directory, '--yes'], await prepareMigration(north));
    const cleanup = ['migrate', 'cleanup', '--run-dir', directory];
    const asked = await identity(cleanup);
    expect(asked.code).toBe(2);
    expect(asked.stdout).toMatch(/\nnothing is removed: add --yes\n$/);
    expect(existsSync(directory)).toBe(true);
    const { code, stdout, stderr } = await identity([...cleanup, '--yes']);
    expect(code, stderr).toBe(0);
    for (const { url, tokenFile } of [north, south]) {
      expect(stdout).toMatch(
        new RegExp(
          `by hand: the service user \\d{18} on ${url}, with its tokens: if it was created for the migration, run identity service-user delete \\d{18} `,
        ),
      );
      expect(stdout).toMatch(
        new RegExp(
          `the token in ${tokenFile} stays valid until .* \\(revoke it with identity pat revoke [0-9a-f]{32}\\)`,
        ),
      );
    }
    expect(stdout).toContain(`removed: the run directory ${directory}\n`);
    expect(stdout).not.toContain(north.token);
    expect(existsSync(directory)).toBe(false);
  });

  it('removes an object that was read, where the account may, and tries again where it may not', async () => {
    const south = await servedPlace(sqlite);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const key = (name: string) => ['--credentials-file', join(bucket.directory, 'keys', `${name}.json`)];
    const object = 'gs://exports/orgs.json';
    const file = await exportFileWith(acme);
    expect((await identity(['export', file, '--to', object, ...key('both')], { env })).code).toBe(0);
    const directory = await newRunDirectory();
    const args = ['--from', object, '--to', south.database, '--run-dir', directory, ...key('viewer'), '--yes'];
    await migrate(args, { env, cwd: await testDirectory() });
    const cleanup = ['migrate', 'cleanup', '--run-dir', directory, '--yes'];
    const refused = await identity(cleanup, { env });
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain(
      `failed: the object ${object}: ${object}: grant the service account the role Storage Object User on the bucket; by hand: run gcloud storage rm ${object}\n`,
    );
    const interrupted = await newRunDirectory();
    await cp(directory, interrupted, { recursive: true });
    const removed = await identity([...cleanup, ...key('admin')], { env });
    expect(removed.code, removed.stderr).toBe(0);
    expect(removed.stdout).toContain(`removed: the object ${object}\nremoved: the run directory`);
    const after = await identity(['inspect', object, ...key('viewer')], { env });
    expect(after.stderr).toContain('not found');
    // As an interruption between the object's removal and the directory's leaves it.
    const again = ['migrate', 'cleanup', '--run-dir', interrupted, '--yes', ...key('admin')];
    expect((await identity(again, { env })).code).toBe(0);
    expect(existsSync(interrupted)).toBe(false);
  });

  it('deletes the service user of a ZITADEL, and gives up what is not finished', async () => {
    const { zitadel, tokenFile } = await filledZitadel([acme]);
    const target = join(await testDirectory(), 'acme.json');
    const directory = await newRunDirectory();
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile];
    const planned = await identity(['migrate', 'plan', ...from, '--to', target, '--run-dir', directory]);
    expect(planned.code, planned.stderr).toBe(0);
    const { code, stdout } = await identity(['migrate', 'cleanup', '--run-dir', directory, '--yes', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ removed: true, remainders: [{ removed: true }] });
    expect(code).toBe(0);
    expect(zitadel.requests.map(({ path }) => path)).toContainEqual(expect.stringMatching(/^\/v2\/users\/[^/]+$/));
    expect(existsSync(directory)).toBe(false);
  });
});
