import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import type { ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import { partsDocument } from '../../../shared/organisation/partsDocument.ts';
import { startProgram } from '../../../tools/program.ts';
import { identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { firestore, keyEnvironment } from '../../support/stores/stores.ts';

const PARTS = 3;
const PATH = 'north.json';
const never = new AbortController().signal;
const created = z.object({ orgId: z.string() });

/** Six organisations, of which the last has so many users that its part takes a while. */
const sample = Array.from({ length: 6 }, (_, index) =>
  organisation(`org-${index}`, {
    humanUsers: Array.from({ length: index === 5 ? 2_500 : 3 }, (_user, number) => person(`user-${index}-${number}`)),
  }),
);

/** A moment that no database keeps. */
const READ_TIME = '2020-01-01T00:00:00.000Z';

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Writes the plan of an earlier export without secrets. */
async function writePlan({ database, storage, at }: Pick<Prepared, 'database' | 'storage' | 'at'>, excluded: string[]) {
  const flags = { withPasswords: false, withOtp: false, withKeys: false, forZitadel: false };
  const options = JSON.stringify([flags, excluded, PARTS]);
  const plan = { source: database, options, execution: '', readTime: READ_TIME, ranges: [{}] };
  await storage.write(at('.plan-0001.json'), inPieces(Buffer.from(JSON.stringify(plan))), never);
}

/** A database with organisations, and a bucket. */
async function prepare(orgs: readonly object[]) {
  const location = await firestore.newLocation();
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const env = {
    ...keyEnvironment(location),
    STORAGE_EMULATOR_HOST: bucket.url,
    GOOGLE_APPLICATION_CREDENTIALS: join(bucket.directory, 'keys', 'both.json'),
  };
  const { orgId } = created.parse(await identityJson(['init', ...databaseOptions(location)], { env }));
  const file = join(await testDirectory(), 'sample.json');
  await writeFile(file, JSON.stringify({ orgs }));
  const database = placeOfLocation(location);
  expect(await identity(['import', file, '--to', database], { env })).toMatchObject({ code: 0 });
  const command = ['export', database, '--to', `gs://exports/${PATH}`, '--parts', String(PARTS)];
  const args = [...command, '--exclude-org', orgId, '--json'];
  const storage = createCloudStorage({ apiEndpoint: bucket.url });
  const at = (suffix: string) => ({ bucket: 'exports', path: `${PATH}${suffix}`, account: bucket.both });
  return { database, file, bucket, env, args, orgId, storage, at };
}

async function generationOf(storage: ObjectStorage, location: Parameters<ObjectStorage['pin']>[0]) {
  return storage.pin(location, never).then(
    ({ generation }) => generation,
    () => undefined,
  );
}

async function read(storage: ObjectStorage, location: Parameters<ObjectStorage['pin']>[0]): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await storage.pin(location, never)).read(never)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function lastEvent(stdout: string): unknown {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

describeWithFirestore('an export in parts', { timeout: 600_000 }, () => {
  it('continues after a kill from one moment, and is imported, inspected and compared as one file', async () => {
    const { database, file, env, args, orgId, storage, at } = await prepare(sample);
    const [program, script] = identityProgram;
    const running = await startProgram(program, [script, ...args], /"event":"progress"/, { env });
    const second = at('.part-0002.json');
    const isWritten = async () => (await generationOf(storage, second)) !== undefined;
    await vi.waitUntil(isWritten, { timeout: 300_000, interval: 5 });
    await running.stop('SIGKILL');
    expect(await generationOf(storage, at('.part-0003.json'))).toBeUndefined();
    expect(await generationOf(storage, at(''))).toBeUndefined();
    const before = await generationOf(storage, second);
    // A later change is not part of the moment.
    const later = join(await testDirectory(), 'later.json');
    await writeFile(later, JSON.stringify({ orgs: [organisation('org-9', { humanUsers: [person('late')] })] }));
    expect(await identity(['import', later, '--to', database], { env })).toMatchObject({ code: 0 });

    const continued = await identity(args, { env });
    expect(continued.code, continued.stderr).toBe(0);
    expect(continued.trail).toContain('north.json.part-0003.json');
    expect(continued.trail).not.toContain('north.json.part-0002.json');
    const counts = { organisations: 6, records: 6 + 5 * 3 + 2_500 };
    expect(lastEvent(continued.stdout)).toMatchObject({ kept: 2, written: 1, complete: true, ...counts });
    const document = partsDocument.parse(await read(storage, at('')));
    expect(document.parts.map(({ path }) => path)).toEqual(
      ['1', '2', '3'].map((number) => `${PATH}.part-000${number}.json`),
    );
    expect(document.parts[1]?.generation).toBe(before);
    expect(Date.parse(document.manifest.readTime) % 60_000).toBe(0);
    expect(document.parts.map(({ manifest }) => manifest.counts.orgs)).toEqual([2, 2, 2]);
    const again = await identity(args, { env });
    const place = `gs://exports/${PATH}`;
    const { readTime } = document.manifest;
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${place} is a finished export as of ${readTime} and is never overwritten`),
    });

    const compared = await identity(['compare', place, file], { env });
    expect(compared, compared.stdout).toMatchObject({ code: 0 });
    const inspected = await identity(['inspect', place, '--json'], { env });
    expect(lastEvent(inspected.stdout)).toMatchObject({
      organisations: 6,
      manifest: { counts: { humanUsers: 2_515 } },
    });
    const target = await firestore.newLocation();
    await identityJson(['init', ...databaseOptions(target)], { env });
    const imported = await identity(['import', place, '--to', placeOfLocation(target), '--json'], { env });
    expect(lastEvent(imported.stdout)).toMatchObject({
      summary: { created: { org: 6, humanUsers: 2_515 }, failed: {}, proved: true },
    });
    const equal = await identity(
      ['compare', database, placeOfLocation(target), '--exclude-org', orgId, '--exclude-org', 'org-9'],
      { env },
    );
    expect(equal.stdout).toContain('people: 2,515 equal\n');
  });

  it('begins anew beside the earlier parts when their moment is no longer available, also in tasks', async () => {
    const sample = ['org-1', 'org-2', 'org-3'].map((orgId) => organisation(orgId));
    const { database, env, args, orgId, storage, at } = await prepare(sample);
    await writePlan({ database, storage, at }, [orgId]);
    const task = (index: number) => ({
      ...env,
      CLOUD_RUN_TASK_INDEX: String(index),
      CLOUD_RUN_TASK_COUNT: '2',
      CLOUD_RUN_EXECUTION: 'job-1',
    });
    const ended = await Promise.all([0, 1].map((index) => identity(args, { env: task(index) })));
    for (const { code, stderr } of ended) {
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(`the state of ${READ_TIME} is no longer available: the export begins anew`);
    }
    const [first, second] = ended.map(({ stdout }) => lastEvent(stdout));
    expect(first).toMatchObject({ written: 2, kept: 0, abandoned: [READ_TIME] });
    expect(second).toMatchObject({ written: 1, kept: 0, abandoned: [READ_TIME] });
    expect([first, second]).toContainEqual(expect.objectContaining({ complete: true, organisations: 3 }));
    const { parts, execution } = partsDocument.parse(await read(storage, at('')));
    expect(execution).toBe('job-1');
    const retried = await identity(args, { env: task(1) });
    expect(lastEvent(retried.stdout)).toMatchObject({ kept: 0, written: 0, complete: true, organisations: 3 });
    expect(parts.map(({ path }) => path)).toEqual(
      ['1', '2', '3'].map((number) => `${PATH}.run-0002.part-000${number}.json`),
    );
  });
});
