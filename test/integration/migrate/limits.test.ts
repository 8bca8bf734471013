import { describe, expect, it } from 'vitest';
import { call, calling, identity } from '../../support/command.ts';
import { linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { type TransferBucket, transferBucket, transferPlace } from '../../support/places/transferPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const all = ['--with', 'passwords,otp,keys', '--yes'];
const limits = { responseBytes: 100_000, requestBytes: 100_000 };

const crowd = (orgId: string, count: number) =>
  organisation(orgId, {
    humanUsers: Array.from({ length: count }, (_, number) =>
      person(`${orgId} ${number}`, { hashedPassword: { value: HASH } }),
    ),
  });

/** Organisations that refer to each other, and one that is larger than a request and a response. */
const orgs = [staying, ...linkedOrganisations, crowd('large', 600), crowd('small', 50)];

async function filledPlace(bucket: TransferBucket) {
  const place = await transferPlace(bucket, limits);
  const file = await exportFileWith(...orgs);
  await call(`import ${file} --to ${place.database} --with all`, 0);
  return place;
}

describe('a migration of an organisation that is larger than a request and a response', () => {
  it('is tried and proved, and warns of nothing that a small one does not', async () => {
    const bucket = await transferBucket();
    const [north, south] = [await filledPlace(bucket), await transferPlace(bucket, limits)];
    const migrating = await prepareMigration(north);
    const result = await migrate([...betweenServers(north, south), ...all, '--on-conflict', 'fail'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      errors: [],
      warnings: [],
      proof: { method: 'fields', unexpected: 0, expected: 0, sourceUnchanged: true },
    });
    expect(result.phases).toContainEqual(expect.objectContaining({ phase: 'uploading', bytes: expect.any(Number) }));
    expect(south.events().filter((event) => event === 'import.uploadDeleted')).toHaveLength(2);
    expect(north.events().filter((event) => event === 'export.objectDeleted')).toHaveLength(2);
    const again = await migrate([...betweenServers(north, south), ...all], await prepareMigration(north));
    expect(again).toMatchObject({ outcome: 'done', moved: { imported: { created: {}, overwritten: {} } } });
  });

  it('has a plan that names the buckets, and a trial', async () => {
    const bucket = await transferBucket();
    const [north, south] = [await filledPlace(bucket), await transferPlace(bucket, limits)];
    const { cwd } = await prepareMigration(north);
    const call = ['migrate', '--dry-run', ...betweenServers(north, south), '--with', 'all'];
    const { stdout, stderr } = await identity(call, { cwd });
    expect(stderr).not.toContain('stopped');
    const checked = stdout.slice(stdout.indexOf('Checked'));
    expect(checked).toContain(
      `${north.url} returns at most 100,000 bytes in a response, so the instance transfers the export through its bucket`,
    );
    expect(checked).toContain(
      `${south.url} accepts at most 100,000 bytes in a request, so this command uploads the file to the bucket of the instance`,
    );
    expect(checked).not.toContain('cannot simulate an import');
    expect(south.events()).toContain('import.uploadDeleted');
  });

  it('has a plan with conflicts, although the target cannot try it', async () => {
    const bucket = await transferBucket();
    const [north, south] = [await filledPlace(bucket), await transferPlace(bucket, { ...limits, dryRunRecords: 100 })];
    const changed = organisation('large', { humanUsers: [person('large 7', { userName: 'other' })] });
    expect(await identity(['import', await exportFileWith(changed), '--to', south.database])).toMatchObject({
      code: 0,
    });
    const { cwd } = await prepareMigration(north);
    const call = ['migrate', '--dry-run', ...betweenServers(north, south), '--with', 'none'];
    const { stdout, stderr } = await identity(call, { cwd });
    expect(stdout, stderr).toContain(
      `${south.url} cannot simulate an import of this size. So the plan lists only records that no instance accepts, and existing records with other content. `,
    );
    expect(stdout).toMatch(/person large 7\b.*exists with other content: user\.userName: /);
    const skipping = await identity([...call, '--on-conflict', 'skip'], { cwd });
    expect(skipping.stdout).not.toMatch(/person large 7\b/);
    expect(skipping.stdout).toContain(
      '1 record exists with other content: the import leaves existing records unchanged\n',
    );
  });

  it('ends with its plan if the target has no bucket', async () => {
    const north = await filledPlace(await transferBucket());
    const south = await servedPlace(sqlite, { MAX_REQUEST_BYTES: '100000' });
    const { cwd } = await prepareMigration(north);
    const problem = `the file exceeds the limit of ${south.url}, 100,000 bytes in a request`;
    await calling({ cwd })(['migrate', ...betweenServers(north, south), ...all], 1, problem);
  });
});
