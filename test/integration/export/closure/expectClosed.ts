import { expect } from 'vitest';
import { proveExport } from '../../../../shared/exportFile/inspection.ts';
import { collect, inPieces } from '../../../support/fixtures/bytes.ts';
import { comparable } from '../../../support/fixtures/comparable.ts';
import type { Organisation } from '../../../support/fixtures/organisations.ts';
import { type Exported, type TestInstance, testInstance } from '../../../support/instances/testInstance.ts';
import { openTestStore, type StoreKind } from '../../../support/stores/stores.ts';
import { exportForZitadel } from '../../../support/zitadel/forZitadel.ts';

/** The report of an import. */
type Report = Awaited<ReturnType<TestInstance['import']>>;

const nothing = { errors: undefined, failed: {}, notCarried: {} };

/** An import of some organisations, and the export of the imported records. */
interface Closed {
  readonly source: TestInstance;
  readonly report: Report;
  readonly exported: Exported;
}

/** Imports organisations, and expects that another instance imports the export of the first one. */
export async function expectClosed(kind: StoreKind, orgs: readonly Organisation[]): Promise<Closed> {
  const source = await testInstance(await openTestStore(kind), 'source');
  const report = await source.import({ data_orgs: { orgs }, with_keys: true });
  return { source, report, exported: await expectClosedExport(kind, source) };
}

/**
 * Expects that another instance imports an export and exports the same, that the first one finds it unchanged, and that its
 * manifest proves it while its bytes pass.
 */
export async function expectClosedExport(
  kind: StoreKind,
  source: TestInstance,
  request: object = {},
): Promise<Exported> {
  const exported = await source.export(request);
  const again = await (await importedElsewhere(kind, exported)).export();
  expect(again.manifest.digest).toBe(exported.manifest.digest);
  expect(comparable(again.orgs)).toEqual(comparable(exported.orgs));
  const repeated = await source.import(fileRequest(exported));
  expect({ errors: repeated.errors, ...repeated.summary }).toMatchObject({ ...nothing, created: {} });
  return exported;
}

/** Expects that other instances import an instance's exports for ZITADEL, and without secrets. */
export async function expectOtherForms(kind: StoreKind, { source }: Pick<Closed, 'source'>): Promise<void> {
  await importedElsewhere(kind, await exportForZitadel(source));
  await importedElsewhere(kind, await source.export({ with_passwords: false, with_otp: false, with_keys: false }));
}

async function importedElsewhere(kind: StoreKind, exported: Exported): Promise<TestInstance> {
  const source = { open: () => inPieces(Buffer.from(exported.bytes)) };
  const proved = await collect(proveExport(source, new AbortController().signal));
  expect(proved.toString()).toBe(exported.bytes);
  const target = await testInstance(await openTestStore(kind), 'target');
  const { errors, summary } = await target.import(fileRequest(exported));
  const { orgs: _, ...created } = exported.manifest.counts;
  expect({ errors, ...summary }).toMatchObject({ ...nothing, proved: true, created });
  return target;
}

function fileRequest({ bytes }: Exported): string {
  return `{"with_keys":true,"data_orgs":${bytes}}`;
}
