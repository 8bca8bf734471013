import { printable } from '../printable.ts';
import type { MigrationPlan } from './plan.ts';
import type { MigrationResult } from './result.ts';

const MAX_LINES = 20;

/** Returns a plan as people read it. */
export function planText(plan: MigrationPlan): string {
  const { source, target, checks, leftOut, organisations, sections, secrets, work } = plan;
  const records = Object.values(sections).reduce((sum, count) => sum + count, 0);
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

/** Returns the lines of errors, warnings and the like. */
export function notices(kind: string, listed: MigrationResult['errors'], omitted: number): string[] {
  const lines = listed.map(
    ({ type, id, message }) => `${kind}: ${id === undefined ? '' : `${type} ${id}: `}${message}`,
  );
  return first(lines, `of kind ${kind}`, omitted);
}

/** Returns the first lines, and one with the number of the others. */
export function first(lines: readonly string[], kind: string, omitted = 0): string[] {
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length - shown.length + omitted;
  return more === 0 ? shown : [...shown, `${more} more ${kind}: --json lists more`];
}

/** Returns numbers with their names, such as `org 2, humanUsers 10`. */
export function countList(counts: Readonly<Record<string, number>>): string {
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
