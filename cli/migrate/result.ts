// The result of a migration, and its report.

import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { total } from '../../shared/collections/counts.ts';
import { completeFile } from '../../shared/durableFiles.ts';
import { migrationUnfinished } from '../../shared/errors/placeErrors.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { selectedKinds } from '../../shared/exportFile/secretSelection.ts';
import type { Output } from '../command.ts';
import { outcomeCounts, repetitionWarnings } from '../exports/importOutcomes.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { requireFreeFile } from '../places/filePlace.ts';
import { listConcernedPeople, writePeopleFile } from './concernedPeople.ts';
import { type MigrationPlan, type MigrationResult, migrationResult } from './migrationDocuments.ts';
import { type MigrationRun, readMigrationState } from './migrationRun.ts';
import type { OpenSide } from './openSides.ts';
import type { Proved } from './proof.ts';
import { migrateCommand, peoplePath, readJson, writeJson } from './runDirectory.ts';
import { type MigrationSettings, shownSettings } from './settings.ts';

const RESULT_FILE = 'result.json';

/** Reads the result of a migration; undefined before its end. */
export function readResult(directory: string): Promise<MigrationResult | undefined> {
  return readJson(directory, RESULT_FILE, migrationResult);
}

/** Writes the result of a migration into its run directory. */
export async function makeResult(
  run: MigrationRun,
  plan: MigrationPlan,
  target: OpenSide,
  proved: Proved,
): Promise<MigrationResult> {
  const { settings, startedAt, moved: { response, stored } = {}, resumedAt } = run.state;
  const { proof, credentials, organisations, organisationsOmitted, sourceDigest, targetDigest, activations } = proved;
  const sorted = sortNotices(response, [plan.source, target], plan.leftToDo);
  // There is no import into a file, so the plan's errors and warnings remain.
  const planned = { errors: plan.refused, errorsOmitted: plan.refusedOmitted };
  const notices = response === undefined ? { ...sorted, ...planned } : sorted;
  const { place: _, ...object } = stored ?? { place: '' };
  const leftToDo = [...activations.entries, ...notices.leftToDo];
  const people = await listConcernedPeople(run, [...notices.errors, ...leftToDo]);
  const result: MigrationResult = {
    version: 1,
    outcome: outcomeOf(response, notices.errors.length + proof.unexpected),
    ...(response?.elsewhere === undefined ? {} : { elsewhere: response.elsewhere }),
    command: packageJson.version,
    startedAt,
    finishedAt: new Date().toISOString(),
    source: { ...plan.source, digest: sourceDigest },
    target: { ...plan.target, ...object, ...(targetDigest === undefined ? {} : { digest: targetDigest }) },
    options: { ...shownSettings.parse(settings), secrets: [...selectedKinds(settings)] },
    leftOut: run.exported.leftOut,
    organisations,
    organisationsOmitted,
    moved: movedCounts(run, plan),
    phases: [...run.phases],
    resumedAt,
    ...notices,
    leftToDo,
    leftToDoOmitted: notices.leftToDoOmitted + activations.omitted,
    people: [...people],
    warnings: [...ownWarnings(run), ...(response === undefined ? plan.warnings : notices.warnings)],
    proof,
    credentials,
  };
  await writeJson(run.directory, RESULT_FILE, result);
  await writePeopleFile(peoplePath(run.directory), people);
  return result;
}

/** @param problems the number of errors and unexpected differences */
function outcomeOf(response: ImportResponse | undefined, problems: number): MigrationResult['outcome'] {
  if (response?.elsewhere !== undefined) return 'failed';
  return problems > 0 || total(response?.summary.unconfirmed ?? {}) > 0 ? 'listed' : 'done';
}

/** Returns the numbers of exported and imported records. */
function movedCounts({ exported: { organisations, records }, state: { moved } }: MigrationRun, plan: MigrationPlan) {
  const imported = moved?.response === undefined ? {} : { imported: outcomeCounts(moved.response.summary) };
  return { organisations, records, exported: plan.sections, ...imported };
}

/** Returns the warnings that the import's response does not contain. */
function ownWarnings({ exported, state: { importRepeated, moved } }: MigrationRun) {
  const { response } = moved ?? {};
  return [
    ...(importRepeated === true && response !== undefined ? repetitionWarnings(response.summary) : []),
    ...exported.notices.map((message) => ({ type: 'export', message })),
  ];
}

/** The types of warnings that are not about a record. */
const generalTypes: ReadonlySet<string> = new Set(['manifest', 'secrets', 'state']);

/**
 * Sorts the notices of an import or its trial. The warnings of an import into a ZITADEL are manual steps, except those about
 * the file and about secrets. An instance of this service verifies the hashes that it warns of.
 * @param leftToDo the manual steps that follow from the export
 */
export function sortNotices(
  response: ImportResponse | undefined,
  [source, { kind }]: readonly [source: Pick<OpenSide, 'kind'>, target: Pick<OpenSide, 'kind'>],
  leftToDo: readonly CountedEntry[],
) {
  const { errors = [], summary } = response ?? {};
  const { warningsOmitted = 0, errorsOmitted = 0 } = summary ?? {};
  // A ZITADEL's export has no manifest, and a migration compares the moved secrets.
  const isKept = ({ type }: CountedEntry) =>
    type !== 'not_compared' && (type !== 'manifest' || source.kind !== 'zitadel');
  const warnings = (summary?.warnings ?? []).filter(isKept);
  const kept = { errors, errorsOmitted, warningsOmitted, leftToDo: [...leftToDo], leftToDoOmitted: 0 };
  if (kind !== 'zitadel') return { ...kept, warnings: warnings.filter(({ reason }) => reason !== 'hash_unverified') };
  const general = warnings.filter(({ type }) => generalTypes.has(type));
  const others = warnings.filter((warning) => !general.includes(warning));
  return { ...kept, warnings: general, warningsOmitted: 0, leftToDo: others, leftToDoOmitted: warningsOmitted };
}

type Settings = Pick<MigrationSettings, 'report'>;

/** Returns the path of the file with the concerned people next to a report. */
function peopleBeside(report: string): string {
  return `${report.replace(/\.html?$/i, '')}.people.csv`;
}

/** Requires that the report can be written, and the file of people next to it. */
export async function requireReportable({ report }: Settings): Promise<void> {
  if (report === undefined) return;
  for (const file of [report, peopleBeside(report)]) await requireFreeFile(file);
  await access(dirname(report), constants.W_OK);
}

/**
 * Writes the report of a finished migration into a new file.
 * @throws IdentityError FAILED_PRECONDITION before the migration's end, ALREADY_EXISTS for a file that exists
 */
export async function reportMigration(directory: string, file: string): Promise<Output> {
  const result = await readResult(directory);
  if (result === undefined) {
    const { finishedAt } = await readMigrationState(directory);
    throw migrationUnfinished({
      path: directory,
      next: finishedAt === undefined ? migrateCommand('resume', directory) : undefined,
    });
  }
  const report = resolve(file);
  await requireReportable({ report });
  await writeReport({ report }, result);
  return { json: { event: 'result', directory, report }, text: `the report of ${directory} is in ${report}` };
}

/** Writes the requested report of a migration, and the file of people next to it. A resumed migration replaces its own. */
export async function writeReport({ report }: Settings, result: MigrationResult): Promise<void> {
  if (report === undefined) return;
  const { renderReport } = await import('../report/renderReport.ts');
  await completeFile(report, renderReport(result), 'replacing');
  await writePeopleFile(peopleBeside(report), result.people);
}
