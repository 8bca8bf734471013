import * as commandErrors from '../../shared/errors/commandErrors.ts';
import * as errors from '../../shared/errors/errors.ts';
import * as httpErrors from '../../shared/errors/httpErrors.ts';
import { type Code, codes, type ErrorRow, internalError } from '../../shared/errors/identityError.ts';
import * as placeErrors from '../../shared/errors/placeErrors.ts';
import * as storageErrors from '../../shared/errors/storageErrors.ts';
import * as storeErrors from '../../shared/errors/storeErrors.ts';
import { code, table } from './markdown.ts';

type ErrorTable = Readonly<Record<string, { readonly row: ErrorRow }>>;

const INTRODUCTION = `# Errors

Names are stable. Values in the texts are examples; ids in parentheses are ZITADEL's.
See also [the form of an error](specification.md#23-error-body), [the codes](specification.md#72-codes-and-statuses) and [the errors of single records](zitadel.md#57-errors-of-single-records).`;

/** Writes `docs/errors.md` from the tables of errors. */
export function errorsDocument(): string {
  return [
    INTRODUCTION,
    '## Operations',
    errorTable({ ...errors, ...storeErrors, internalError }),
    '## Cloud Storage',
    errorTable(storageErrors),
    '## HTTP',
    errorTable(httpErrors),
    '## The `identity` command',
    nameTable({ ...commandErrors, ...placeErrors }),
  ].join('\n\n');
}

function errorTable(errorsByName: ErrorTable): string {
  const cells = sorted(errorsByName).map((row) => {
    const text = row.id === undefined ? row.text : `${row.text} (${row.id})`;
    return [code(row.reason), String(codes[row.code].number), String(httpStatusOf(row)), code(text)];
  });
  return table(['name', 'code', 'HTTP', 'text'], cells);
}

/** The command prints the texts, which contain the remedy. */
function nameTable(errorsByName: ErrorTable): string {
  const byCode = new Map<Code, ErrorRow[]>();
  for (const row of sorted(errorsByName)) byCode.set(row.code, [...(byCode.get(row.code) ?? []), row]);
  const cells = [...byCode].map(([name, rows]) => [
    String(codes[name].number),
    rows.map(({ reason }) => code(reason)).join(', '),
  ]);
  return table(['code', 'names'], cells);
}

function sorted(errorsByName: ErrorTable): ErrorRow[] {
  return Object.values(errorsByName)
    .map(({ row }) => row)
    .sort((a, b) => sortKey(a) - sortKey(b) || (a.reason < b.reason ? -1 : 1));
}

function sortKey(row: ErrorRow): number {
  return httpStatusOf(row) * 100 + codes[row.code].number;
}

function httpStatusOf({ code: name, httpStatus = codes[name].httpStatus }: ErrorRow): number {
  return httpStatus;
}
