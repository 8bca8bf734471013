import type { Result } from './process.ts';

/** One line of the table: a measurement, and the raw loop that it is compared with. */
export interface Row {
  readonly store: string;
  readonly name: string;
  readonly result: Result;
  readonly ceiling?: Result;
}

const widths = [-10, -14, 9, 12, 9, 12];

/** The names of the columns, aligned as the rows are. */
export const tableHead = line(['store', 'measurement', 'users/s', 'CPU us/user', 'peak MB', 'of raw loop']);

/** A row as a line of text. */
export function tableLine({ store, name, result, ceiling }: Row): string {
  const share = ceiling === undefined ? '' : ratio(result, ceiling).toFixed(2);
  // The raw loop holds all its writes before it begins, so its memory says nothing.
  const peak = name === 'raw write' ? '' : result.peakMegabytes.toFixed(0);
  const cpu = ((result.cpu / result.users) * 1_000).toFixed(1);
  return line([store, name, Math.round(rate(result)).toLocaleString('en'), cpu, peak, share]);
}

/** How much of the raw loop's users a second a measurement reached. */
export function ratio(result: Result, ceiling: Result): number {
  return rate(result) / rate(ceiling);
}

function rate({ users, time }: Result): number {
  return (users / time) * 1_000;
}

function line(cells: readonly string[]): string {
  return cells.map(align).join(' ').trimEnd();
}

function align(cell: string, column: number): string {
  const width = widths[column] ?? 0;
  return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
}
