import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../tools/program.ts';
import { rpcClients } from '../support/http/rpcClients.ts';
import { MULTI_REGION, readCloud, strict, variables } from './deployment.ts';

const cloud = readCloud(process.env) ?? { project: '', domain: '', region: '' };
const { CLOUD_WORK: work = '', ACCEPTANCE_SOURCE_TOKEN: token } = process.env;
const north = `https://north.${cloud.domain}`;

const terraform = (...args: readonly string[]) => strict(run)('terraform', `-chdir=${work}/terraform`, ...args);
const gcloud = (line: string) => strict(run)('gcloud', ...line.split(' '), `--project=${cloud.project}`, '--quiet');
const runServices = (line: string) => gcloud(`run services ${line} --region=${cloud.region}`);

function post(operation: 'export' | 'import', body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(`${north}/admin/v1/${operation}`, { method: 'POST', headers, body });
}

const exportOf = (...orgIds: readonly string[]) =>
  post('export', JSON.stringify({ org_ids: orgIds, response_output: true }));

function organisation(
  orgId: string,
  people: number,
  more: { readonly password?: string; readonly metadata?: string },
): string {
  const { password, metadata: value } = more;
  const humanUsers = Array.from({ length: people }, (_, index) => {
    const profile = { firstName: 'Person', lastName: `${index}` };
    const email = { email: `person-${index}@${orgId}.example`, isEmailVerified: true };
    return { userId: `${orgId}${index}`, user: { userName: `person-${index}-${orgId}`, profile, email, password } };
  });
  const userMetadata = humanUsers.flatMap(({ userId: id }) => (value === undefined ? [] : { id, key: 'test', value }));
  const org = { orgId, org: { name: `Test ${orgId}` }, humanUsers, userMetadata };
  return JSON.stringify({ timeout: '20m', data_orgs: { orgs: [org] } });
}

const counts = z.record(z.string(), z.number());
const imported = z.object({ summary: z.object({ created: counts, unchanged: counts, failed: counts }) });
const exported = z.object({ manifest: z.object({ counts }) });

describe('Google Cloud', () => {
  it('has no difference to the configuration after the first apply, nor after the second', async () => {
    expect(await terraform('plan', '-input=false', '-detailed-exitcode')).toContain('No changes');
    await terraform('apply', '-input=false', '-auto-approve');
    expect(await terraform('plan', '-input=false', '-detailed-exitcode')).toContain('No changes');
  });

  it('has each database where its entry says', async () => {
    const places = { north: cloud.region, south: MULTI_REGION };
    for (const [instance, location] of Object.entries(places)) {
      const described = await gcloud(`firestore databases describe --database=${instance} --format=value(locationId)`);
      expect(described.trim()).toBe(location);
    }
  });

  it('forwards no native gRPC, as docs/clients.md says', async () => {
    const client = rpcClients.find(({ name }) => name === '@connectrpc/connect-node: gRPC, gzip');
    const call = client?.call({ method: 'removeOTPEmail', url: north, token: 'none', userId: 'none' });
    const thrown = await call?.catch((error: unknown) => error);
    // Not the service's own answer to this token.
    expect(client?.refusal(thrown).code).not.toBe(Code.Unauthenticated);
  });

  it('keeps versions of documents for seven days, and one index of its own for a record', async () => {
    const database = await gcloud('firestore databases describe --database=north --format=json');
    expect(JSON.parse(database)).toMatchObject({
      pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
      versionRetentionPeriod: '604800s',
    });
    const fields = 'firestore indexes fields describe';
    const partition = await gcloud(`${fields} partition --collection-group=users --database=north --format=json`);
    expect(JSON.parse(partition)).toMatchObject({ indexConfig: { indexes: [{ queryScope: 'COLLECTION' }] } });
    const others = await gcloud(`${fields} --database=north --format=json`);
    expect(JSON.parse(others)).not.toHaveProperty('indexConfig.indexes.0');
  });

  it('keeps paths that end in z for itself, and leads those without to the function', async () => {
    expect((await fetch(`${north}/ready`)).status).toBe(200);
    const reserved = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${north}/${path}`)));
    expect(reserved.map(({ ok }) => ok)).toContain(false);
  });

  it("lets the function refuse a request above its limit, and refuses one above Google's by a page", async () => {
    const padded = (bytes: number) => post('import', '{"data_orgs":{"orgs":[]}}'.padEnd(bytes));
    const [ours, googles] = [await padded(33_000_000), await padded(36_000_000)];
    expect([ours.status, googles.status]).toEqual([413, 413]);
    expect(googles.headers.get('content-type')).not.toMatch(/^application\/json/);
  });

  it('sends responses of 9 and 27 MB that have a content length', async () => {
    const orgIds = ['880000000000000001', '880000000000000002', '880000000000000003'];
    const metadata = Buffer.alloc(300_000, 'test').toString('base64');
    for (const orgId of orgIds) expect((await post('import', organisation(orgId, 23, { metadata }))).status).toBe(200);
    expect((await exportOf('880000000000000001')).status).toBe(200);
    await runServices('update north-export --update-env-vars=MAX_RESPONSE_BYTES=31000000');
    const response = await exportOf(...orgIds);
    const { byteLength } = await response.arrayBuffer();
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(byteLength)]);
    expect(byteLength).toBeGreaterThan(27_000_000);
  });

  it('resumes an import that is sent again after its process was ended', async () => {
    const [people, orgId] = [600, '880000000000000004'];
    // Passwords in clear take long to hash, at no cost.
    const body = organisation(orgId, people, { password: 'Password-1-Cloud!' });
    const revision = await runServices('describe north-import --format=value(status.latestReadyRevisionName)');
    const running = post('import', body).then(
      ({ status }) => status,
      () => undefined,
    );
    const written = async () => {
      const response = await exportOf(orgId);
      return response.ok ? exported.parse(await response.json()).manifest.counts.humanUsers : undefined;
    };
    await expect.poll(written, { timeout: 180_000, interval: 5_000 }).toBeGreaterThan(0);
    await runServices('update north-import --update-env-vars=CLOUD_RESTART=1');
    await gcloud(`run revisions delete ${revision.trim()} --region=${cloud.region}`);
    expect(await running).not.toBe(200);
    const { summary } = imported.parse(await (await post('import', body)).json());
    const { created, unchanged, failed } = summary;
    expect((created.humanUsers ?? 0) + (unchanged.humanUsers ?? 0)).toBe(people);
    expect(unchanged.humanUsers).toBeGreaterThan(0);
    expect(failed).toEqual({});
  });

  it('keeps the check of invokers disabled in a new revision of a function', async () => {
    await runServices('update south-remove-otp-email --no-invoker-iam-check');
    await writeFile(join(work, 'changed.tfvars.json'), variables(cloud, { log_level: 'debug' }));
    await terraform('apply', '-input=false', '-auto-approve', `-var-file=${work}/changed.tfvars.json`);
    const service: unknown = JSON.parse(await runServices('describe south-remove-otp-email --format=json'));
    expect(service).toMatchObject({ metadata: { annotations: { 'run.googleapis.com/invoker-iam-disabled': 'true' } } });
  });
});
