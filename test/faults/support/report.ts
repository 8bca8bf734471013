import { type FaultName, type FaultRow, faultTable, type Place } from './faultTable.ts';
import type { Survived } from './survived.ts';

/** A line of the report: a fault of the table in one of its places. */
export interface ReportRow extends Pick<FaultRow, 'fault' | 'outcome'> {
  readonly name: FaultName;
  readonly place: Place;
}

/** Every line that the report has, in its order. */
export const reportRows: readonly ReportRow[] = entriesOf(faultTable).flatMap(([name, { fault, places, outcome }]) =>
  places.map((place) => ({ name, place, fault, outcome })),
);

const HEAD = ['fault', 'in', 'times', 'seed, day', 'outcome'];

/** How often each fault of the table was survived; 0 where it was not tried. */
export function timesOf({ name, place }: ReportRow, all: readonly Survived[]): number {
  return all.filter((one) => one.name === name && one.place === place).reduce((sum, { times }) => sum + times, 0);
}

/**
 * The report's table in Markdown. A fault that this run did not try keeps its figures of an earlier run.
 * @param run the run's seed and day
 * @param earlier the cells of the earlier report
 * @throws Error naming a fault without any figures
 */
export function reportTable(all: readonly Survived[], run: string, earlier: readonly (readonly string[])[]): string {
  const lines = reportRows.map((row) => [row.fault, row.place, ...figuresOf(row, all, run, earlier), row.outcome]);
  return [HEAD, HEAD.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function figuresOf(
  row: ReportRow,
  all: readonly Survived[],
  run: string,
  earlier: readonly (readonly string[])[],
): readonly string[] {
  const times = timesOf(row, all);
  if (times > 0) return [times.toLocaleString('en'), run];
  const kept = earlier.find(([fault, place]) => fault === row.fault && place === row.place);
  if (kept === undefined) throw new Error(`"${row.fault}" was never tried in ${row.place}: run its test`);
  return kept.slice(2, 4);
}

/** The cells of the table's lines in a report, without its head. */
export function readReport(markdown: string): string[][] {
  const lines = markdown.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
}

function entriesOf<Name extends string, Row>(table: Readonly<Record<Name, Row>>): [Name, Row][] {
  const isName = (name: string): name is Name => name in table;
  return Object.keys(table)
    .filter(isName)
    .map((name) => [name, table[name]]);
}
