import { expect, it } from 'vitest';
import { z } from 'zod';
import { joinPages } from '../../../cli/exports/joinPages.ts';
import { inspect, proveExport } from '../../../shared/exportFile/inspection.ts';
import { organisation, person, zitadelExport } from '../../support/fixtures/organisations.ts';
import { exportedFile, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, type StoreKind } from '../../support/stores/stores.ts';

const LIMIT = 60_000;
const never = new AbortController().signal;
const manifest = z.looseObject({ nextPageToken: z.string().exactOptional() });

const crowd = (orgId: string, count: number) =>
  organisation(orgId, {
    orgState: 'ORG_STATE_INACTIVE',
    humanUsers: Array.from({ length: count }, (_, number) => ({ ...person(`${orgId} P${number}`), otpEmail: true })),
    userMetadata: Array.from({ length: count }, (_, number) => ({
      id: `${orgId} P${number}`,
      key: 'key',
      value: 'dmFsdWU=',
    })),
  });

async function filled(kind: StoreKind, orgs: readonly object[]): Promise<TestInstance> {
  const instance = await testInstance(await openTestStore(kind), 'test', { limits: { responseBytes: LIMIT } });
  await instance.import({ dataOrgs: { orgs }, with_keys: true });
  return instance;
}

const everything = (instance: TestInstance) => ({
  excluded_org_ids: [instance.orgId],
  with_passwords: true,
  with_otp: true,
  with_keys: true,
  response_output: true,
});

/** Exports in pages, each of which proves itself, and joins them. */
async function exportPages(instance: TestInstance, request: object = everything(instance)) {
  const pages: string[] = [];
  async function* read(token: string): AsyncGenerator<Uint8Array> {
    const { status, text } = await instance.attempt('export', { ...request, paged: true, page_token: token });
    expect(status, text).toBe(200);
    pages.push(text);
    yield* proveExport({ open: () => halves(Buffer.from(text)) }, never);
  }
  const bytes = Buffer.concat(await Array.fromAsync(joinPages(read)));
  return { pages, bytes, file: exportedFile.parse(JSON.parse(bytes.toString())) };
}

async function* halves(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, bytes.length / 2);
  yield bytes.subarray(bytes.length / 2);
}

/** Exports the whole file in one response, from an instance without a limit. */
async function exportWhole(kind: StoreKind, orgs: readonly object[]) {
  const instance = await testInstance(await openTestStore(kind), 'test');
  await instance.import({ dataOrgs: { orgs }, with_keys: true });
  return instance.export();
}

describeStores('an export in pages', (kind) => {
  const orgs = [...zitadelExport('export-full'), crowd('acme', 300), crowd('emca', 3), crowd('zeta', 120)];

  it('can be joined to the file of one response, and each page fits into a response', async () => {
    const instance = await filled(kind, orgs);
    const { pages, bytes, file } = await exportPages(instance);
    expect(pages.length).toBeGreaterThan(3);
    for (const page of pages) expect(Buffer.byteLength(page)).toBeLessThanOrEqual(LIMIT);
    const whole = await exportWhole(kind, orgs);
    expect(file.manifest).toMatchObject({ counts: whole.manifest.counts, digest: whole.manifest.digest });
    expect(file.manifest.nextPageToken).toBeUndefined();
    const inspection = await inspect({ open: () => halves(bytes) }, never);
    expect(inspection).toMatchObject({ proved: true, tally: { digest: whole.manifest.digest } });
  });

  it('causes a warning if a page is imported alone', async () => {
    const { pages } = await exportPages(await filled(kind, orgs));
    const target = await testInstance(await openTestStore(kind), 'target');
    const { summary } = await target.import({ data_orgs: JSON.parse(pages[0] ?? ''), dry_run: true });
    expect(summary.warnings).toContainEqual(expect.objectContaining({ type: 'manifest', reason: 'page_continued' }));
  });

  it('contains the named organisations alone, in whatever order they are named', async () => {
    const instance = await filled(kind, orgs);
    const { file } = await exportPages(instance, { ...everything(instance), org_ids: ['zeta', 'acme'] });
    expect([...new Set(file.orgs.map(({ orgId }) => orgId))]).toEqual(['acme', 'zeta']);
    expect(file.manifest.counts).toMatchObject({ orgs: 2, humanUsers: 420, userMetadata: 420 });
  });

  it('has a single page without a token if everything fits, byte for byte the unpaged response', async () => {
    const instance = await filled(kind, [crowd('emca', 3)]);
    const { pages, bytes } = await exportPages(instance);
    expect(pages).toHaveLength(1);
    const readTime = /"readTime":"[^"]+"/;
    const { bytes: unpaged } = await instance.export();
    expect(bytes.toString().replace(readTime, '')).toBe(unpaged.replace(readTime, ''));
  });

  it('continues behind records and organisations that are removed meanwhile', async () => {
    const instance = await filled(kind, [crowd('acme', 300), crowd('emca', 3)]);
    const request = { ...everything(instance), paged: true };
    const page = async (token: string) => {
      const { text } = await instance.attempt('export', { ...request, page_token: token });
      return exportedFile.parse(JSON.parse(text));
    };
    const { nextPageToken = '' } = manifest.parse((await page('')).manifest);
    const moved = JSON.parse(Buffer.from(nextPageToken, 'base64url').toString());
    const beforeAcme = Buffer.from(JSON.stringify({ ...moved, orgId: 'acm' })).toString('base64url');
    expect((await page(beforeAcme)).orgs[0]).toMatchObject({ orgId: 'acme', org: { name: 'Organisation acme' } });
    const rest = await page(Buffer.from(JSON.stringify({ ...moved, after: 'none' })).toString('base64url'));
    expect(rest.orgs[0]?.orgId).toBe('acme');
  });

  it('is rejected if it continues in a section that the request leaves out', async () => {
    const instance = await filled(kind, [crowd('acme', 3)]);
    const token = Buffer.from(JSON.stringify({ orgId: 'acme', section: 'machineKeys' })).toString('base64url');
    const request = { ...everything(instance), paged: true, page_token: token };
    expect((await instance.attempt('export', request)).status).toBe(200);
    const { status, text } = await instance.attempt('export', { ...request, with_keys: false });
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('other options') });
  });

  it.each([
    ['a token that no page has', { page_token: 'x' }, 'page_token: must be the nextPageToken'],
    ['a bucket', { gcs_output: { bucket: 'b', path: 'p' } }, 'gcs_output'],
    ['the form for ZITADEL', { for_zitadel: true }, 'paged: cannot be combined with for_zitadel'],
  ])('is rejected with %s', async (_what, more, problem) => {
    const instance = await filled(kind, []);
    const request = { ...everything(instance), paged: true, ...more };
    const { status, text } = await instance.attempt('export', request);
    expect(status).toBe(400);
    expect(text).toContain(problem);
  });
});

describeStores('an export without pages', (kind) => {
  it('is rejected if it is too large, and the error mentions pages', async () => {
    const instance = await filled(kind, [crowd('acme', 300)]);
    const { status, text } = await instance.attempt('export', everything(instance));
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('set paged') });
  });
});
