import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { comparable } from '../support/fixtures/comparable.ts';
import { sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, parseOk, post } from '../support/http/wire.ts';
import { type BucketAccess, type Deployment, describeDeployments, noBucket } from '../support/instances/deployments.ts';

const written = z.strictObject({
  manifest: z.looseObject({ counts: z.record(z.string(), z.number()), digest: z.string() }),
  object: z.strictObject({
    bucket: z.string(),
    path: z.string(),
    generation: z.string().regex(/^\d+$/),
    size: z.int().positive(),
    crc32c: z.base64(),
  }),
});

describeDeployments('migration through a bucket', (get) => {
  beforeEach(({ skip }) => {
    if (get().bucket === undefined) skip(noBucket);
  });

  it.each(['data_orgsv1_gcs', 'dataOrgsv1Gcs', 'data_orgs_gcs', 'dataOrgsGcs'])(
    'exports to the bucket and imports from it by %s',
    async (field) => {
      const deployment = get();
      const access = accessOf(deployment);
      const { exporter, importer } = objectIn(access);
      const organisation = await newIn(deployment);
      const selection = { org_ids: [organisation.orgId], with_passwords: true, with_otp: true };
      const answer = await post(deployment.source, 'export', { ...selection, gcs_output: exporter });
      const { manifest, object } = written.parse(parseOk(answer));
      expect(object).toMatchObject({ bucket: access.bucket, path: exporter.path });
      expect(manifest.counts).toMatchObject({ orgs: 1, humanUsers: 4 });
      const report = await importInto(deployment.target, { timeout: '1m', [field]: importer });
      expect(report.summary).toMatchObject({ created: { org: 1, humanUsers: 4 }, failed: {}, proved: true });
      const { orgs } = await exportFrom(deployment.target, { org_ids: [organisation.orgId] });
      expect(comparable(orgs)).toEqual(comparable([organisation]));
    },
  );

  it('exports the same bytes to the bucket and to the response at once', async () => {
    const deployment = get();
    const { exporter, importer } = objectIn(accessOf(deployment));
    const organisation = await newIn(deployment);
    const file = await exportFrom(deployment.source, { org_ids: [organisation.orgId], gcs_output: exporter });
    const report = await importInto(deployment.source, { data_orgsv1_gcs: importer });
    expect(report.summary).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 4 }, proved: true });
    expect(comparable(file.orgs)).toEqual(comparable([organisation]));
  });

  it('never overwrites an object', async () => {
    const deployment = get();
    const { exporter, importer } = objectIn(accessOf(deployment));
    const organisation = await newIn(deployment);
    const body = { org_ids: [organisation.orgId], gcs_output: exporter };
    parseOk(await post(deployment.source, 'export', body));
    const again = expectError(await post(deployment.source, 'export', { ...body, org_ids: ['none'] }), 409, 6);
    expect(again.message).toContain(exporter.path);
    expect((await importInto(deployment.target, { data_orgsv1_gcs: importer })).summary.created).toMatchObject({
      org: 1,
    });
  });

  it('fails with 404 for a missing object', async () => {
    const deployment = get();
    const { importer } = objectIn(accessOf(deployment));
    const { message } = expectError(await post(deployment.target, 'import', { data_orgsv1_gcs: importer }), 404, 5);
    expect(message).toContain(importer.path);
  });

  it('fails with 403 and the name of the role if the account lacks the role', async ({ skip }) => {
    const { source, target, ...deployment } = get();
    const { exporter, importer } = objectIn(accessOf(deployment));
    if (exporter.serviceaccount_json === importer.serviceaccount_json) skip('one account may read and write');
    const toWrite = expectError(await post(source, 'export', { gcs_output: importer }), 403, 7);
    expect(toWrite.message).toContain('Storage Object Creator');
    const toRead = expectError(await post(target, 'import', { data_orgsv1_gcs: exporter }), 403, 7);
    expect(toRead.message).toContain('Storage Object Viewer');
  });

  it('fails with 400 for a key of another account', async () => {
    const deployment = get();
    const { exporter } = objectIn(accessOf(deployment));
    const gcs_output = { ...exporter, serviceaccount_json: withAnotherKey(exporter.serviceaccount_json) };
    const { message } = expectError(await post(deployment.source, 'export', { gcs_output }), 400, 3);
    expect(message).toMatch(/key/);
    expect(message).not.toMatch(/PRIVATE KEY/);
  });

  it('fails with 400 and the name of the bucket for an unknown bucket', async () => {
    const deployment = get();
    const { exporter, importer } = objectIn(accessOf(deployment));
    const bucket = `no-such-bucket-${randomUUID()}`;
    const toWrite = await post(deployment.source, 'export', { gcs_output: { ...exporter, bucket } });
    expect(expectError(toWrite, 400, 3).message).toContain(bucket);
    const toRead = await post(deployment.target, 'import', { data_orgsv1_gcs: { ...importer, bucket } });
    expect(expectError(toRead, 400, 3).message).toContain(bucket);
  });
});

function accessOf({ bucket }: Pick<Deployment, 'bucket'>): BucketAccess {
  if (bucket === undefined) throw new Error(noBucket);
  return bucket;
}

function objectIn({ bucket, exporter, importer }: BucketAccess) {
  const place = { bucket, path: `acceptance/${randomUUID()} ä?#%.json` };
  return {
    exporter: { ...place, serviceaccount_json: exporter },
    importer: { ...place, serviceaccount_json: importer },
  };
}

async function newIn({ source }: Deployment) {
  const organisation = sampleOrganisation();
  await importInto(source, { data_orgs: { orgs: [organisation] } });
  return organisation;
}

function withAnotherKey(keyFile: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const parsed = z.looseObject({}).parse(JSON.parse(Buffer.from(keyFile, 'base64').toString()));
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return Buffer.from(JSON.stringify({ ...parsed, private_key })).toString('base64');
}
