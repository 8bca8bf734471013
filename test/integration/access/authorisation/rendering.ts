import type { CallerRow } from './callers.ts';
import type { Column } from './calls.ts';
import { selections, users } from './dimensions.ts';
import { type Verdict, verdicts } from './expectation.ts';

const WIDTH = 120;
const INDENT = '    ';

const legend = [
  'Who may do what. Each sign is a call that a test makes, and compares with the rules of the specification.',
  'The test makes the calls of a caller of each different line over the other interfaces too.',
  '',
  '+ done   0 permitted, nothing there   - no permission   p a person   x other operation',
  '',
  `The signs of a removal of the OTP e-mail factor, and of a list of authentication methods: ${users.join(', ')}`,
  "(the caller, a user of the caller's own organisation, of another organisation, of the default organisation, no user).",
  `The signs of an export or import: ${selections.join(', ')} (the organisations that it selects).`,
  "Below each line of signs: the callers' only roles. `on other` is a membership in another organisation.",
  '',
];

/** The part of a cell that the rendering needs. */
interface Cell {
  readonly row: CallerRow;
  readonly column: Column;
  readonly verdict: Verdict;
}

/**
 * Renders the matrix: a block for each kind of token, in which callers with equal rows share a line.
 * @param rows the callers' cells, one for each column
 */
export function renderMatrix(rows: readonly (readonly Cell[])[]): string {
  const kinds = Map.groupBy(rows, ([first]) => first?.row.kind.name);
  const blocks = [...kinds].map(([kind, ofKind]) => [`## ${kind}`, '', ...renderTable(ofKind), ''].join('\n'));
  return [...legend, ...blocks].join('\n');
}

function renderTable(rows: readonly (readonly Cell[])[]): string[] {
  const lines = Map.groupBy(rows, renderCells);
  const named = [...lines].flatMap(([cells, equal]) => [cells, ...wrap(equal.map(([first]) => nameHolding(first)))]);
  return [header(rows[0] ?? []), ...named];
}

const groupsOf = (cells: readonly Cell[]) =>
  [...Map.groupBy(cells, ({ column }) => column.title)].map(([title, { length }]) => ({ title, length }));

function header(cells: readonly Cell[]): string {
  return groupsOf(cells)
    .map(({ title, length }) => title.padEnd(Math.max(title.length, length)))
    .join('  ');
}

function renderCells(cells: readonly Cell[]): string {
  const signs = cells.map(({ verdict }) => verdicts.find(({ name }) => name === verdict)?.sign ?? '?').join('');
  let from = 0;
  return groupsOf(cells)
    .map(({ title, length }) => {
      const part = signs.slice(from, from + length);
      from += length;
      return part.padEnd(Math.max(title.length, length));
    })
    .join('  ')
    .trimEnd();
}

function nameHolding(cell: Cell | undefined): string {
  const { role = 'no role', on } = cell?.row.holding ?? {};
  return on === 'other' ? `${role} on other` : role;
}

function wrap(names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const [index, name] of names.entries()) {
    const text = index === names.length - 1 ? name : `${name},`;
    const last = lines.at(-1);
    if (last === undefined || last.length + text.length + 1 > WIDTH) lines.push(`${INDENT}${text}`);
    else lines[lines.length - 1] = `${last} ${text}`;
  }
  return lines;
}
