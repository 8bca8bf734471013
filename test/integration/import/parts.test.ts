import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { exportOrganisations } from '../../../functions/export/operation.ts';
import { divideOrganisations } from '../../../functions/export/selection.ts';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { type ExportedManifest, manifestSchema } from '../../../shared/organisation/exportFile.ts';
import { combineManifests, type PartsDocument } from '../../../shared/organisation/partsDocument.ts';
import { MAX_DOCUMENT_BYTES, type Store } from '../../../shared/store/store.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { collect, inPieces } from '../../support/fixtures/bytes.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { linkedOrganisations } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const never = new AbortController().signal;
const secrets = { withPasswords: true, withOtp: true, withKeys: true };

/** Exports a store in parts. */
async function exportInParts(store: Store, excluded: string, count: number) {
  await using snapshot = await store.snapshot();
  const selection = { ...secrets, orgIds: [], excludedOrgIds: [excluded], forZitadel: false };
  const origin = { instance: 'source', defaultOrgId: excluded };
  const ranges = await divideOrganisations(snapshot, [excluded], count);
  const parts: { readonly bytes: Buffer; readonly manifest: ExportedManifest }[] = [];
  for (const range of ranges) {
    const exported = exportOrganisations(snapshot, { ...selection, range }, origin, never);
    parts.push({ bytes: await collect(exported.bytes), manifest: exported.manifest });
  }
  return parts;
}

/** A source that was exported in three parts to a bucket, and a target that imports from it. */
async function prepare() {
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const storage = createCloudStorage({ apiEndpoint: bucket.url });
  const account = bucket.both;
  const write = (path: string, content: Uint8Array) =>
    storage.write({ bucket: 'exports', path, account }, inPieces(content), never);
  const store = await openTestStore(sqlite);
  const source = await testInstance(store, 'source');
  const long = organisation('long', { humanUsers: Array.from({ length: 4_000 }, (_, index) => person(`p-${index}`)) });
  await source.import({ data_orgs: { orgs: [...linkedOrganisations, long] }, with_keys: true });
  const [first, ...others] = await exportInParts(store, source.orgId, 3);
  if (first === undefined) throw new Error('there is no part');
  const entries: PartsDocument['parts'] = [];
  for (const [index, { bytes, manifest }] of [first, ...others].entries()) {
    const { path, generation } = await write(`parts/${index}`, bytes);
    entries.push({ path, generation, manifest: manifestSchema.parse(manifest) });
  }
  const manifest = combineManifests([first.manifest, ...others.map((part) => part.manifest)]);
  const document: PartsDocument = { parts: entries, manifest, execution: '' };
  const target = await testInstance(await openTestStore(sqlite), 'target', { objectStorage: storage });
  const keyFile = { type: 'service_account', client_email: account.clientEmail, private_key: account.privateKey };
  const serviceaccount_json = Buffer.from(JSON.stringify(keyFile)).toString('base64');
  const gcs = async (changed: unknown) => {
    const { path } = await write(`document-${crypto.randomUUID()}`, Buffer.from(JSON.stringify(changed)));
    return { bucket: 'exports', path, serviceaccount_json };
  };
  return { source, target, document, parts: [first, ...others], write, gcs };
}

/** The message of an import that is refused before anything is written. */
async function refused(target: TestInstance, data_orgs_gcs: object): Promise<unknown> {
  const { status, body } = await target.refusedImport({ data_orgs_gcs });
  expect(status, JSON.stringify(body)).toBe(400);
  expect((await target.export()).orgs).toEqual([]);
  return body.message;
}

describe('an export in parts in a bucket', () => {
  let prepared: Awaited<ReturnType<typeof prepare>>;
  beforeEach(async () => {
    prepared = await prepare();
  }, 180_000);

  it.each(['data_orgs_gcs', 'data_orgsv1_gcs'])('is imported as one file: %s', { timeout: 180_000 }, async (field) => {
    const { source, target, document, parts, gcs } = prepared;
    expect(document.parts.length).toBe(3);
    // The end of a part is kept back until it is complete, but not all of it.
    expect(parts.some(({ bytes }) => bytes.length > MAX_DOCUMENT_BYTES)).toBe(true);
    const { summary } = await target.import({ [field]: await gcs(document), with_keys: true });
    expect(summary).toMatchObject({ failed: {}, proved: true });
    const [before, after] = [await source.export(), await target.export()];
    expect(after.manifest).toMatchObject({ counts: before.manifest.counts, digest: before.manifest.digest });
    expect(document.manifest.digest).toBe(before.manifest.digest);
    expect(comparable(after.orgs)).toEqual(comparable(before.orgs));
  });

  it('is refused with the name of a part that is missing, replaced or truncated', { timeout: 180_000 }, async () => {
    const { target, document, parts, write, gcs } = prepared;
    const changed = async (change: Partial<PartsDocument['parts'][number]>) => {
      const [first, second, third] = document.parts;
      return refused(target, await gcs({ ...document, parts: [first, { ...second, ...change }, third] }));
    };
    expect(await changed({ path: 'parts/none' })).toMatch(
      /^gs:\/\/exports\/parts\/none: object not found, but gs:\/\/exports\/document-\S+ names it as a part: export again$/,
    );
    expect(await changed({ generation: '1' })).toMatch(
      /^gs:\/\/exports\/parts\/1: generation \d+, but gs:\/\/exports\/document-\S+ names generation 1: export again$/,
    );
    const bytes = parts[1]?.bytes ?? Buffer.alloc(0);
    const cut = await write('parts/cut', bytes.subarray(0, -100));
    expect(await changed({ path: cut.path, generation: cut.generation })).toBe(
      'gs://exports/parts/cut: invalid part of an export: it ends before the end of its manifest: export again',
    );
    const other = await write('parts/other', parts[0]?.bytes ?? Buffer.alloc(0));
    expect(await changed({ path: other.path, generation: other.generation })).toBe(
      'gs://exports/parts/other: invalid part of an export: its manifest is another one: export again',
    );
    const foreign = await write('parts/foreign', Buffer.from('{"type":"service_account"}'));
    expect(await changed({ path: foreign.path, generation: foreign.generation })).toBe(
      'gs://exports/parts/foreign: invalid part of an export: it does not begin as an export file: export again',
    );
  });

  it('is refused when its document contradicts itself, or its records', { timeout: 180_000 }, async () => {
    const { target, document, parts, write, gcs } = prepared;
    const [first, second, third] = document.parts;
    const invalid = (reason: RegExp) => expect.stringMatching(RegExp(`invalid list of parts: ${reason.source}`));
    expect(await refused(target, await gcs({ ...document, parts: [first, third] }))).toEqual(
      invalid(/the counts of the parts do not add up/),
    );
    expect(await refused(target, await gcs({ ...document, parts: [] }))).toEqual(invalid(/parts: /));
    const text = (parts[1]?.bytes ?? Buffer.alloc(0)).toString();
    const edited = await write('parts/edited', Buffer.from(text.replace('"userName":"', '"userName":"x')));
    const { path, generation } = edited;
    expect(
      await refused(target, await gcs({ ...document, parts: [first, { ...second, path, generation }, third] })),
    ).toMatch(/manifest\.digest: digest mismatch/);
  });
});
