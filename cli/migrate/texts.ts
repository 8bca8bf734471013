import { total } from '../../shared/collections/counts.ts';
import type { Output } from '../command.ts';
import { printable } from '../printable.ts';
import type { MigrationPlan, MigrationResult } from './documents.ts';
import { readJournal } from './journal.ts';
import { readResult } from './result.ts';
import { type MigrationState, readState } from './run.ts';
import { findWorker, resumeCommand } from './runDirectory.ts';

const MAX_LINES = 20;

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
    ...first(organisations.map(organisationLine), 'organisations'),
    ...conflictLine(plan),
    ...leftOut.map(({ orgId, reason }) => `stays: ${orgId} (${reason})`),
    `secrets: ${secrets.selected.join(', ') || 'none'}${found(secrets.found)}`,
    `password hashes: ${countList(plan.hashFormats)}`,
    ...notices('refused', plan.refused, plan.refusedOmitted),
    ...notices('warning', plan.warnings, plan.warningsOmitted),
    ...plan.losses.map((loss) => `does not move: ${loss}`),
    ...plan.changes.map((change) => `${target.place}: ${change}`),
    ...notices('left to do', plan.leftToDo, plan.leftToDoOmitted),
    `${work.requests.join('; ')}: about ${Math.ceil(work.seconds)} s, by ${work.measuredBy}`,
  ];
  return lines.map(printable).join('\n');
}

/** What errors, warnings and the like are called, alone and together. */
const plurals = {
  refused: 'refused records',
  error: 'errors',
  warning: 'warnings',
  'left to do': 'things left to do',
};

/** Returns the lines of errors, warnings and the like. */
function notices(kind: keyof typeof plurals, listed: MigrationResult['errors'], omitted: number): string[] {
  const lines = listed.map(
    ({ type, id, message }) => `${kind}: ${id === undefined ? '' : `${type} ${id}: `}${message}`,
  );
  return first(lines, plurals[kind], omitted);
}

/** Returns the first lines, and one with the number of the others. */
function first(lines: readonly string[], plural: string, omitted = 0): string[] {
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length - shown.length + omitted;
  return more === 0 ? shown : [...shown, `${more} more ${plural}; --json lists them`];
}

/** Returns numbers with their names, such as `org 2, humanUsers 10`. */
function countList(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return texts.join(', ') || 'none';
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

/** Returns a result as people read it. */
export function resultText(result: MigrationResult, directory: string): string {
  const { source, target, moved, proof, logins, phases } = result;
  const imported = Object.entries(moved.imported ?? {}).filter(([, counts]) => Object.keys(counts).length > 0);
  const lines = [
    `${moved.organisations} organisations with ${moved.records} records moved from ${source.place} to ${target.place}`,
    ...imported.map(([outcome, counts]) => `${outcome}: ${countList(counts)}`),
    ...lastPhases(phases).map(phaseLine),
    `proof: ${proof.description}`,
    ...verdict(result),
    ...first(proof.differences.flatMap(differenceLines), 'differences'),
    ...notices('error', result.errors, result.errorsOmitted),
    ...notices('warning', result.warnings, result.warningsOmitted),
    ...notices('left to do', result.leftToDo, result.leftToDoOmitted),
    loginLine(logins),
    `clean up: identity migrate cleanup --run-dir ${directory}`,
  ];
  return lines.map(printable).join('\n');
}

/** Returns the last attempt of each phase. */
function lastPhases(phases: MigrationResult['phases']): MigrationResult['phases'] {
  return [...new Map(phases.map((phase) => [phase.phase, phase])).values()];
}

function phaseLine({ phase, records, seconds, perSecond }: MigrationResult['phases'][number]): string {
  return `${phase}: ${records} records in ${seconds.toFixed(1)} s, ${Math.round(perSecond)}/s`;
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

function differenceLines(difference: MigrationResult['proof']['differences'][number]): string[] {
  const { outcome, section, orgId, id, fields, reason } = difference;
  const record = `${section} ${id} of ${orgId}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  if (outcome !== 'different')
    return [`${record}: only in the ${outcome === 'onlySource' ? 'source' : 'target'}${why}`];
  return fields.map(({ path, source = '(absent)', target = '(absent)', secret }) => {
    const values = secret === undefined ? `${source} | ${target}` : `a secret, ${secret}`;
    return `${record}: ${path}: ${values}${why}`;
  });
}

function loginLine({ people, withPassword, ready }: MigrationResult['logins']): string {
  return `logins: ${ready} of ${withPassword} people with a password log in with the same one; ${people - withPassword} of ${people} have none in the export`;
}

/** What a migration has done, in the order in which it does it. */
const steps: readonly (readonly [text: string, isDone: (state: MigrationState) => boolean])[] = [
  ['exported', ({ exported }) => exported !== undefined],
  ['planned', ({ plannedAt }) => plannedAt !== undefined],
  ['confirmed', ({ consentedAt }) => consentedAt !== undefined],
  ['moved', ({ moved }) => moved !== undefined],
  ['proved', ({ finishedAt }) => finishedAt !== undefined],
];

/** Describes how far a migration has come, and what goes on with it. */
export async function describeStatus(directory: string): Promise<Output> {
  const state = await readState(directory);
  const pid = await findWorker(directory);
  const result = await readResult(directory);
  const failure = readJournal(directory).findLast(({ event }) => event === 'failed' || event === 'resumed');
  const problem = failure?.event === 'failed' ? failure.problem : undefined;
  const done = steps.filter(([, isDone]) => isDone(state)).map(([text]) => text);
  const isFinished = state.finishedAt !== undefined;
  const next = isFinished || pid !== undefined ? undefined : resumeCommand(directory);
  const lines = [
    `${directory}: from ${state.settings.from} to ${state.settings.to}, started at ${state.startedAt}`,
    `done: ${done.join(', ') || 'nothing'}`,
    ...(pid === undefined ? [] : [`process ${pid} works on it`]),
    ...(problem === undefined || isFinished ? [] : [`stopped: ${problem}`]),
    ...(next === undefined ? [] : [`continue with ${next}`]),
    ...(isFinished && result !== undefined ? resultText(result, directory).split('\n') : []),
  ];
  const { from, to } = state.settings;
  return {
    json: {
      event: 'result',
      directory,
      from,
      to,
      startedAt: state.startedAt,
      done,
      pid,
      problem,
      next,
      migration: result,
    },
    text: lines.map(printable).join('\n'),
  };
}
