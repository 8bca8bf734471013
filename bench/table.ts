import type { Result } from './process.ts';

/** A row of the table: a measurement, and the raw loop as its ceiling. */
export interface Row {
  readonly store: string;
  readonly name: string;
  readonly result: Result;
  readonly ceiling?: Result;
}

const widths = [-10, -14, 9, 12, 9, 12];

/** The names of the columns, aligned like the rows. */
export const tableHead = line(['store', 'measurement', 'users/s', 'CPU us/user', 'peak MB', 'of raw loop']);

/** Renders a row as a line of text. */
export function tableLine({ store, name, result, ceiling }: Row): string {
  const share = ceiling === undefined ? '' : ratio(result, ceiling).toFixed(2);
  // The raw loop creates all its writes before it begins, so its memory is no ceiling.
  const peak = name === 'raw write' ? '' : result.peakMegabytes.toFixed(0);
  const cpu = ((result.cpu / result.users) * 1_000).toFixed(1);
  return line([store, name, Math.round(rate(result)).toLocaleString('en'), cpu, peak, share]);
}

/** Returns a measurement's users per second as a share of the raw loop's. */
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
