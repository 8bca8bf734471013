import { expect, it } from 'vitest';
import { recordSection } from '../../shared/organisation/sections.ts';
import { type ModelRecord, placeOf } from '../machine/kinds.ts';
import { Model } from '../machine/model.ts';
import { exportedOrganisations, readFile, withState } from '../machine/modelFile.ts';
import { importFile } from '../machine/modelImport.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { type Report, type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { describeStores, openTestStore, setUpOnce } from '../support/stores/stores.ts';
import { importRows, type Row } from './import.ts';
import { organisationsOf } from './importRows.ts';

const modes = ['report', 'skip', 'overwrite'] as const;
type Mode = (typeof modes)[number];

/** A row as one import: its organisations have ids and names that no other has. */
interface Case {
  readonly name: string;
  readonly mode: Mode;
  readonly orgIds: readonly string[];
  readonly stored: readonly Organisation[];
  readonly file: readonly Organisation[];
  readonly outcomes: readonly string[];
  /** What the import leaves of the written records; empty if that is what the file has. */
  readonly after: readonly Organisation[];
}

const DIFFERS = ['exists', 'skipped', 'overwritten'];
const letters = ['a', 'b', 'c'];
const cases = Object.entries(importRows).flatMap(([subject, rows], part) =>
  rows.flatMap((row, index) => modes.map((mode) => toCase(subject, `${part}-${index}-${mode}`, row, mode))),
);

function toCase(subject: string, prefix: string, row: Row, mode: Mode): Case {
  const own = (text: string) => `${prefix}.${text}`;
  const [stored, file, texts, after] = row;
  const [report = '', skip = report, overwrite = report] = texts === 'differs' ? DIFFERS : texts.split(' | ');
  const outcomes = { report, skip, overwrite }[mode].split(', ');
  const isWritten = outcomes.some((outcome) => outcome === 'created' || outcome === 'overwritten');
  return {
    name: `${subject}: [${stored}] [${file}] with ${mode}: ${outcomes.join(', ')}`,
    mode,
    orgIds: letters.map(own),
    stored: [
      ...letters.map((letter) => ({ orgId: own(letter), org: { name: own(letter) }, orgState: 'ORG_STATE_ACTIVE' })),
      ...organisationsOf(stored, own),
    ],
    file: organisationsOf(file, own),
    outcomes,
    after: isWritten && after !== undefined ? organisationsOf(after, own) : [],
  };
}

const recordsOf = (orgs: readonly Organisation[]) => readFile(orgs).flatMap(({ records }) => records);

/** The outcome of a record as a row has it: the kind, or the id of the error. */
function named({ section }: ModelRecord, outcome: string): { kind: string; id?: string | undefined } {
  const { error, unique = [] } = recordSection(section);
  const isKind = ['created', 'unchanged', 'skipped', 'overwritten', 'notCarried'].includes(outcome);
  if (isKind) return { kind: outcome };
  const ids: Record<string, string | undefined> = {
    exists: error.exists.id,
    twice: error.exists.id,
    taken: unique[0]?.taken.id,
  };
  return { kind: 'failed', id: ids[outcome] ?? outcome };
}

/** The records of the row's file in the order of the import, each with its outcome. */
function decided({ file, outcomes }: Case) {
  return recordsOf(file).map((record, index) => ({
    record,
    ...named(record, outcomes[index] ?? `no outcome ${index}`),
  }));
}

/** The content before the import. */
function modelBefore({ stored }: Case): Model {
  const model = new Model();
  importFile(model, stored, { onConflict: 'report', withKeys: true, newOrgsOnly: false });
  return model;
}

/** The content that the row describes: of the file where records are written, else what was stored. */
function modelAfter(row: Case): Model {
  const model = modelBefore(row);
  const written = decided(row).filter(({ kind }) => kind === 'created' || kind === 'overwritten');
  const left = row.after.length === 0 ? written.map(({ record }) => record) : recordsOf(row.after);
  for (const record of left) model.records.set(placeOf(record), withState(record));
  return model;
}

const idIn = (message = '') => /^ID=(\S+) /.exec(message)?.[1] ?? '';
const everything = { withPasswords: true, withOtp: true, withKeys: true };

it('has a record for each outcome, and an outcome that the model of the machine agrees with', () => {
  for (const row of cases) {
    const model = modelBefore(row);
    const outcomes = importFile(model, row.file, { onConflict: row.mode, withKeys: true, newOrgsOnly: false });
    const ofRecords = outcomes.filter(({ given }) => given !== undefined);
    expect(
      ofRecords.map(({ given, kind, error }) => `${given && placeOf(given)} ${kind} ${idIn(error?.message)}`).sort(),
      row.name,
    ).toEqual(
      decided(row)
        .map(({ record, kind, id = '' }) => `${placeOf(record)} ${kind} ${id}`)
        .sort(),
    );
  }
});

describeStores('the table of imports', (kind) => {
  // The stores do not differ in the modes.
  const tried = kind.name === 'SQLite' ? cases : cases.filter(({ mode }) => mode === 'overwrite');
  const instance = setUpOnce(async () => {
    const one = await testInstance(await openTestStore(kind));
    const { errors } = await one.import(
      bodyOf(
        tried.flatMap(({ stored }) => stored),
        'report',
      ),
    );
    expect(errors).toBeUndefined();
    return one;
  });

  it.each(tried)('$name', async (row) => {
    const importing = (more: object = {}) => instance().import({ ...bodyOf(row.file, row.mode), ...more });
    // A dry run that wrote anything would change the outcome of the import after it.
    expectOutcomes(row, await importing({ dry_run: true }));
    expectOutcomes(row, await importing());
    expect(await contentOf(instance(), row)).toEqual(
      comparable(exportedOrganisations(modelAfter(row), row.orgIds, everything)),
    );
  });
});

function bodyOf(orgs: readonly Organisation[], mode: Mode) {
  return { data_orgs: { orgs }, on_conflict: mode, with_keys: true };
}

async function contentOf(instance: TestInstance, { orgIds }: Case) {
  return comparable((await instance.export({ org_ids: orgIds, excluded_org_ids: [] })).orgs);
}

function expectOutcomes(row: Case, { errors = [], summary }: Report): void {
  const counts: Record<string, Record<string, number>> = {};
  for (const { record, kind } of decided(row)) {
    const ofKind = counts[kind] ?? {};
    counts[kind] = { ...ofKind, [record.section]: (ofKind[record.section] ?? 0) + 1 };
  }
  const { created, overwritten = {}, skipped = {}, failed, notCarried, unchanged } = summary;
  const { org, ...others } = unchanged;
  // An organisation without its own record counts as unchanged.
  const unchangedRecords = org !== undefined && row.file.some((one) => one.org !== undefined) ? unchanged : others;
  expect({ created, overwritten, skipped, failed, notCarried, unchanged: unchangedRecords }).toEqual({
    ...{ created: {}, overwritten: {}, skipped: {}, failed: {}, notCarried: {}, unchanged: {} },
    ...counts,
  });
  const ids = decided(row).flatMap(({ id }) => id ?? []);
  expect(errors.map(({ message }) => idIn(message)).sort()).toEqual(ids.sort());
}
