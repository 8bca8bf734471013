import { describe, expect, it } from 'vitest';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { type ModelRecord, placeOf, reportedId, takenIssue } from '../machine/kinds.ts';
import { Model } from '../machine/model.ts';
import { exportedOrganisations, readFile, withState } from '../machine/modelFile.ts';
import { importFile, type Outcome } from '../machine/modelImport.ts';
import { comparableSuccess, successOf } from '../machine/modelSuccess.ts';
import { expectWarnings } from '../machine/modelWarnings.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { decideFile } from '../support/import/decideFile.ts';
import { countedInstance, type Report, servedInstance, testInstance } from '../support/instances/testInstance.ts';
import { MemoryStore } from '../support/stores/memoryStore.ts';
import { describeStores, openTestStore, setUpOnce, sqlite } from '../support/stores/stores.ts';
import { repeatingStore } from '../support/stores/watchedStore.ts';
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

/** The error of a domain that is imported, but not as primary. */
const notPrimary = 'ORG-Ggd32';
const DIFFERS = ['exists', 'skipped', 'overwritten'];
const letters = ['a', 'b', 'c'];
const cases = Object.entries(importRows).flatMap(([subject, rows], part) =>
  rows.flatMap((row, index) => modes.map((mode) => toCase(subject, `${part}-${index}-${mode}`, row, mode))),
);

function toCase(subject: string, prefix: string, row: Row, mode: Mode): Case {
  const own = (text: string) => `${prefix}.${text}`;
  const [stored, file, texts, after] = row;
  const outcomes = ofMode(texts === 'differs' ? DIFFERS : texts.split(' | '), mode).split(', ');
  const isWritten = outcomes.some((outcome) => /^(created|overwritten)/.test(outcome));
  return {
    name: `${subject}: [${stored}] [${file}] with ${mode}: ${outcomes.join(', ')}`,
    mode,
    orgIds: [...letters, 'd'].map(own),
    stored: [
      ...letters.map((letter) => ({ orgId: own(letter), org: { name: own(letter) }, orgState: 'ORG_STATE_ACTIVE' })),
      ...organisationsOf(stored, own),
    ],
    file: organisationsOf(file, own),
    outcomes,
    after: isWritten && after !== undefined ? organisationsOf(ofMode(after.split(' | '), mode), own) : [],
  };
}

/** The text of a mode: its own, or the one that holds for all modes. */
function ofMode(texts: readonly string[], mode: Mode): string {
  return texts[modes.indexOf(mode)] ?? texts[0] ?? '';
}

const recordsOf = (orgs: readonly Organisation[]) => readFile(orgs).flatMap(({ records }) => records);

/** The outcome of a record as a row has it: the kind, or the id of the error. */
function named(record: ModelRecord, outcome: string): { kind: string; id?: string | undefined } {
  const { error } = recordSection(record.section);
  const [kindOfPrimary = '', id] = outcome.split('+');
  if (id !== undefined) return { kind: kindOfPrimary, id };
  const isKind = ['created', 'unchanged', 'skipped', 'overwritten', 'notCarried'].includes(outcome);
  if (isKind) return { kind: outcome };
  const ids: Record<string, string | undefined> = {
    exists: error.exists.id,
    twice: error.exists.id,
    taken: takenIssue(record)?.id,
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
  importFile(model, stored, { onConflict: 'report', withKeys: true });
  return model;
}

/** The outcomes of the row's file by the model. */
function outcomesOf(row: Case, model = modelBefore(row)): readonly Outcome[] {
  return importFile(model, row.file, { onConflict: row.mode, withKeys: true });
}

function successIn(row: Case): readonly Organisation[] {
  const model = modelBefore(row);
  return successOf(row.file, outcomesOf(row, model), model);
}

const warningsOf = (row: Case) => outcomesOf(row).flatMap(({ warnings }) => warnings);

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
    const ofRecords = outcomesOf(row).filter(({ given }) => given !== undefined);
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

it.each(modes)('has the outcomes of all rows when a function of values decides, with %s', async (mode) => {
  const tried = cases.filter((row) => row.mode === mode);
  const store = new MemoryStore();
  const { errors } = await decideFile(
    store,
    tried.flatMap(({ stored }) => stored),
    'report',
  );
  expect(errors).toBeUndefined();
  expectOutcomes(
    await decideFile(
      store,
      tried.flatMap(({ file }) => file),
      mode,
    ),
    tried,
  );
});

it.each(modes)('has the outcomes of all rows if the response to each commit is lost, with %s', async (mode) => {
  const tried = cases.filter((row) => row.mode === mode);
  const store = await openTestStore(sqlite);
  const instance = await testInstance(store);
  const importing = (orgs: readonly Organisation[], at = instance) =>
    at.import({ data_orgs: { orgs }, with_keys: true, on_conflict: mode });
  await importing(tried.flatMap(({ stored }) => stored));
  const file = tried.flatMap((row) => row.file);
  expectOutcomes(await importing(file, servedInstance(repeatingStore(store), instance)), tried);
});

describeStores('the table of imports', (kind) => {
  describe.each(modes)('with %s', (mode) => {
    const tried = cases.filter((row) => row.mode === mode);
    const results = setUpOnce(async () => {
      const { instance, writesOf } = await countedInstance(kind);
      const importing = (orgs: readonly Organisation[], more: object) =>
        writesOf(() => instance.import({ data_orgs: { orgs }, with_keys: true, ...more }));
      const stored = tried.flatMap((row) => row.stored);
      const first = await importing(stored, {});
      expect(first.result.errors).toBeUndefined();
      const again = await importing(stored, { on_conflict: mode });
      const file = tried.flatMap((row) => row.file);
      const dry = await importing(file, { on_conflict: mode, dry_run: true });
      const { result: report } = await importing(file, { on_conflict: mode });
      const { orgs } = await instance.export();
      return { first, again, dry, report, organisations: new Map(orgs.map((org) => [org.orgId, org])) };
    });

    it('finds the records of an earlier import unchanged, and writes nothing', () => {
      const { first, again } = results();
      expect({ writes: again.writes, errors: again.result.errors }).toEqual({ writes: 0, errors: undefined });
      expect(again.result.summary).toMatchObject({ created: {}, unchanged: first.result.summary.created });
    });

    it('has the outcomes of all rows, and the warnings and lists of the model', () => {
      const { report } = results();
      expectOutcomes(report, tried);
      expectWarnings(report.summary.warnings, tried.flatMap(warningsOf));
      expect(comparableSuccess(report.success.orgs ?? []).sort()).toEqual(
        comparableSuccess(tried.flatMap(successIn)).sort(),
      );
    });

    it('has the report of the import in a dry run before it, which writes nothing', () => {
      const { dry, report } = results();
      expect(dry).toEqual({ writes: 0, result: { ...report, summary: { ...report.summary, dryRun: true } } });
    });

    it.each(tried)('leaves what the row has: $name', (row) => {
      const content = row.orgIds.flatMap((orgId) => results().organisations.get(orgId) ?? []);
      const expected = exportedOrganisations(modelAfter(row), row.orgIds, everything);
      expect(comparable(content)).toEqual(comparable(expected));
    });
  });
});

function expectOutcomes({ errors = [], summary }: Pick<Report, 'errors' | 'summary'>, tried: readonly Case[]): void {
  expect(errors.map(({ type, id, message }) => `${type} ${id} ${idIn(message)}`).sort()).toEqual(
    tried.flatMap(errorsOf).sort(),
  );
  expect(countsIn(summary)).toEqual(countsOf(tried));
}

const typeOf = ({ section }: ModelRecord, id: string) =>
  id === notPrimary ? 'domain_isprimary' : recordSection(section).error.type;

function errorsOf(row: Case): string[] {
  return decided(row).flatMap(({ record, id }) =>
    id === undefined ? [] : [`${typeOf(record, id)} ${reportedId(record)} ${id}`],
  );
}

/** The numbers of records by outcome and section. */
function countsIn({ created, overwritten = {}, skipped = {}, failed, notCarried, unchanged }: Report['summary']) {
  return { created, overwritten, skipped, failed, notCarried, unchanged };
}

function countsOf(rows: readonly Case[]): ReturnType<typeof countsIn> {
  const counts = new Map<string, Record<string, number>>();
  const add = (kind: string, section: string) => {
    const ofKind = counts.get(kind) ?? {};
    counts.set(kind, { ...ofKind, [section]: (ofKind[section] ?? 0) + 1 });
  };
  for (const { record, kind } of rows.flatMap(decided)) add(kind, record.section);
  // An organisation without its own record counts as unchanged.
  for (const { org } of rows.flatMap(({ file }) => file)) if (org === undefined) add('unchanged', 'org');
  const of = (kind: string) => counts.get(kind) ?? {};
  return {
    ...{ created: of('created'), overwritten: of('overwritten'), skipped: of('skipped') },
    ...{ failed: of('failed'), notCarried: of('notCarried'), unchanged: of('unchanged') },
  };
}
