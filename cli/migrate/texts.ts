import { total } from '../../shared/collections/counts.ts';
import type { Output } from '../command.ts';
import { countList, differenceLines, firstLines, noticeLines, printableLines } from '../texts.ts';
import type { Logins, MigrationPlan, MigrationResult } from './documents.ts';
import { readJournal } from './journal.ts';
import { describeLogins } from './logins.ts';
import { readResult } from './result.ts';
import { readState } from './run.ts';
import { findWorker, resumeCommand } from './runDirectory.ts';

/** Returns a plan as people read it. */
export function planText(plan: MigrationPlan): string {
  const { source, target, checks, leftOut, organisations, sections, secrets, work } = plan;
  const records = total(sections);
  const count = organisations.length + plan.organisationsOmitted;
  const lines = [
    `from ${source.place}`,
    `to   ${target.place}`,
    ...checks.map(({ status, message }) => `${status}: ${message}`),
    `${count} organisations with ${records} records move: ${countList(sections)}`,
    ...firstLines(organisations.map(organisationLine), 'organisation'),
    ...conflictLine(plan),
    ...leftOut.map(({ orgId, reason }) => `stays: ${orgId} (${reason})`),
    `secrets: ${secrets.selected.join(', ') || 'none'}${found(secrets.found)}`,
    `password hashes: ${countList(plan.hashFormats)}`,
    ...loginLines('logins, if all arrive', plan.logins),
    ...noticeLines('refused', plan.refused, plan.refusedOmitted),
    ...noticeLines('warning', plan.warnings, plan.warningsOmitted),
    ...plan.losses.map((loss) => `does not move: ${loss}`),
    ...plan.changes.map((change) => `${target.place}: ${change}`),
    ...noticeLines('left to do', plan.leftToDo, plan.leftToDoOmitted),
    `${work.requests.join('; ')}: about ${Math.ceil(work.seconds)} s, by ${work.measuredBy}`,
  ];
  return printableLines(lines);
}

/** What becomes of records that exist with other content. */
const conflicts: Readonly<Record<MigrationPlan['onConflict'], string>> = {
  report: 'they stay, and are listed as errors; --on-conflict skip or overwrite decides otherwise',
  skip: 'they stay',
  overwrite: 'they are overwritten',
};

function conflictLine({ different, onConflict }: MigrationPlan): string[] {
  return different === 0 ? [] : [`${different} records exist with other content: ${conflicts[onConflict]}`];
}

function organisationLine({ orgId, name, people, records, before }: MigrationPlan['organisations'][number]): string {
  const { absent, equal, different, onlyTarget } = before;
  const there = { equal, different, 'only in the target': onlyTarget };
  const others = Object.entries(there).flatMap(([kind, count]) => (count === 0 ? [] : [`${count} ${kind}`]));
  return `${orgId} (${name}): ${records} records, ${people} people: ${[`${absent} new`, ...others].join(', ')}`;
}

function found(counts: Readonly<Record<string, number>>): string {
  return Object.keys(counts).length === 0 ? '' : ` (the export holds ${countList(counts)})`;
}

function loginLines(title: string, logins: Logins | undefined): string[] {
  if (logins === undefined) return [];
  const { sentence, reasons } = describeLogins(logins);
  return [`${title}: ${sentence}`, ...reasons.map((reason) => `not as before: ${reason}`)];
}

/** Returns a result as people read it. */
export function resultText(result: MigrationResult, directory: string): string {
  const { source, target, moved, proof, phases } = result;
  // The last attempt of each phase.
  const attempts = new Map(phases.map((phase) => [phase.phase, phase]));
  const imported = Object.entries(moved.imported ?? {}).filter(([, counts]) => Object.keys(counts).length > 0);
  const lines = [
    `${moved.organisations} organisations with ${moved.records} records moved from ${source.place} to ${target.place}`,
    ...imported.map(([outcome, counts]) => `${outcome}: ${countList(counts)}`),
    ...[...attempts.values()].map(({ phase, records, seconds, perSecond }) => {
      return `${phase}: ${records} records in ${seconds.toFixed(1)} s, ${Math.round(perSecond)}/s`;
    }),
    `proof: ${proof.description}`,
    ...verdict(result),
    ...firstLines(proof.differences.flatMap(describe), 'difference'),
    ...noticeLines('error', result.errors, result.errorsOmitted),
    ...noticeLines('warning', result.warnings, result.warningsOmitted),
    ...noticeLines('left to do', result.leftToDo, result.leftToDoOmitted),
    ...loginLines('logins', result.logins),
    `clean up: identity migrate cleanup --run-dir ${directory}`,
  ];
  return printableLines(lines);
}

function verdict({ proof, source, target }: MigrationResult): string[] {
  const { method, expected, unexpected, sections, sourceUnchanged } = proof;
  if (method === 'checksum') return [];
  const equal = Object.values(sections).reduce((sum, counts) => sum + counts.equal, 0);
  const isSame = source.digest !== undefined && source.digest === target.digest;
  const changed = 'the source has changed since it was exported: migrate again to move the changes';
  return [
    `${equal} records equal, ${expected} differ as expected, ${unexpected} differ`,
    ...(isSame ? [`both sides have the digest ${source.digest}`] : []),
    ...(sourceUnchanged === false ? [changed] : []),
  ];
}

function describe(difference: MigrationResult['proof']['differences'][number]): string[] {
  const onlyIn = { different: undefined, onlySource: 'the source', onlyTarget: 'the target' }[difference.outcome];
  const texts = difference.fields.map(({ source, target, ...field }) => ({ ...field, first: source, second: target }));
  return differenceLines(difference, onlyIn, texts);
}

/** The fields that the steps of a migration leave in its state, in their order. */
const steps = [
  ['exported', 'exported'],
  ['plannedAt', 'planned'],
  ['consentedAt', 'confirmed'],
  ['moved', 'moved'],
  ['finishedAt', 'proved'],
] as const;

/** Describes how far a migration has come, and the command that continues it. */
export async function describeStatus(directory: string): Promise<Output> {
  const state = await readState(directory);
  const { settings, startedAt } = state;
  const pid = await findWorker(directory);
  const result = await readResult(directory);
  const failure = readJournal(directory).findLast(({ event }) => event === 'failed' || event === 'resumed');
  const problem = failure?.event === 'failed' ? failure.problem : undefined;
  const done = steps.filter(([field]) => state[field] !== undefined).map(([, text]) => text);
  const isFinished = state.finishedAt !== undefined;
  const next = isFinished || pid !== undefined ? undefined : resumeCommand(directory);
  const lines = [
    `${directory}: from ${settings.from} to ${settings.to}, started at ${startedAt}`,
    `done: ${done.join(', ') || 'nothing'}`,
    ...(pid === undefined ? [] : [`process ${pid} works on it`]),
    ...(problem === undefined || isFinished ? [] : [`stopped: ${problem}`]),
    ...(next === undefined ? [] : [`continue with ${next}`]),
    ...(isFinished && result !== undefined ? resultText(result, directory).split('\n') : []),
  ];
  const described = { directory, from: settings.from, to: settings.to, startedAt, done, pid, problem, next };
  return { json: { event: 'result', ...described, migration: result }, text: printableLines(lines) };
}
