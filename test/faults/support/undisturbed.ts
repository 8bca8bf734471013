import { expect } from 'vitest';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { exportOrganisations } from '../../../functions/export/operation.ts';
import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import type { Store } from '../../../shared/store/store.ts';
import { collect } from '../../support/fixtures/bytes.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { exportedFile, importReport, testInstance } from '../../support/instances/testInstance.ts';
import { type Contents, contentsOf, readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { withTemporaryStore } from '../../support/stores/stores.ts';
import type { Migration } from './migration.ts';

/** A file, and the state after its undisturbed import. */
export interface Undisturbed extends Migration {
  /** The request that imports it. */
  readonly body: string;
  readonly contents: Contents;
  /** The records by section that an import creates or leaves unchanged. */
  readonly records: Readonly<Record<string, number>>;
  readonly digest: string;
  readonly counts: Manifest['counts'];
  /** The content of an export of its organisations, in a form in which equal exports are equal. */
  readonly exported: unknown;
}

/** Imports a file undisturbed, and keeps the resulting state. */
export function undisturbed(file: Migration): Promise<Undisturbed> {
  return withTemporaryStore(async (store) => {
    const body = JSON.stringify({ data_orgs: { orgs: file.orgs }, with_keys: true });
    const { errors, summary } = await (await testInstance(store)).import(body);
    expect(errors).toBeUndefined();
    const { manifest, orgs } = await exportOf(store, file.orgIds);
    const contents = contentsOf(await readDatabase(store), file.orgIds);
    const { digest, counts } = manifest;
    return { ...file, body, contents, records: summary.created, digest, counts, exported: comparable(orgs) };
  });
}

/** Expects that no invariant is violated, and that the file's organisations contain only records of the file. */
export async function expectSound(store: Store, { contents, orgIds }: Undisturbed): Promise<Contents> {
  const database = await readDatabase(store);
  expect(violationsOf(database)).toEqual([]);
  const present = contentsOf(database, orgIds);
  const foreign = [...present].filter(([name, content]) => contents.get(name) !== content);
  expect(foreign).toEqual([]);
  return present;
}

/** Expects that every record exists in the database, in the counts, and in an export. */
export async function expectComplete(store: Store, expected: Undisturbed): Promise<void> {
  const present = await expectSound(store, expected);
  expect(present.size).toBe(expected.contents.size);
  const { manifest, orgs } = await exportOf(store, expected.orgIds);
  expect(manifest).toMatchObject({ digest: expected.digest, counts: expected.counts });
  expect(comparable(orgs)).toEqual(expected.exported);
}

/** Expects that a response reports every record of the file as existing, created now or before, and nothing else. */
export function expectAllIn(text: string, { records }: Undisturbed): void {
  const { errors, summary } = importReport.parse(JSON.parse(text));
  expect({ errors, failed: summary.failed }).toEqual({ errors: undefined, failed: {} });
  const sections = Object.keys({ ...records, ...summary.created, ...summary.unchanged });
  const sum = (name: string) => (summary.created[name] ?? 0) + (summary.unchanged[name] ?? 0);
  expect(Object.fromEntries(sections.map((name) => [name, sum(name)]))).toEqual(records);
}

async function exportOf(store: Store, orgIds: readonly string[]) {
  const snapshot = await store.snapshot();
  try {
    const selection = { ...defaultExportOptions, orgIds, withPasswords: true, withOtp: true, withKeys: true };
    const { bytes } = exportOrganisations(
      snapshot,
      selection,
      { instance: 'test', defaultOrgId: undefined, loginNamesByDomain: false },
      new AbortController().signal,
    );
    return exportedFile.parse(JSON.parse((await collect(bytes)).toString()));
  } finally {
    await snapshot[Symbol.asyncDispose]();
  }
}
