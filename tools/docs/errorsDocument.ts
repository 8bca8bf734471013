import * as commandErrors from '../../shared/errors/commandErrors.ts';
import * as errors from '../../shared/errors/errors.ts';
import * as httpErrors from '../../shared/errors/httpErrors.ts';
import { codes, type ErrorRow, internalError } from '../../shared/errors/identityError.ts';
import * as placeErrors from '../../shared/errors/placeErrors.ts';
import * as storageErrors from '../../shared/errors/storageErrors.ts';
import * as storeErrors from '../../shared/errors/storeErrors.ts';
import { code, table } from './markdown.ts';
import { recordErrors } from './recordErrors.ts';

type ErrorTable = Readonly<Record<string, { readonly row: ErrorRow }>>;

const INTRODUCTION = `# Errors

[The specification](specification.md#23-error-body) has the form of an error. Values in the messages are examples, ids in parentheses are ZITADEL's, and names never change.`;

const RECORDS = `They stand in \`errors\` of a successful import ([ZITADEL's form](zitadel.md#57-errors-of-single-records)); ids that begin with \`IMPORT-\` are this service's own. In any section, a text or list above its [limit](specification.md#82-sizes) has the id \`IMPORT-tooLong\`.`;

/** Writes `docs/errors.md` from the tables of errors and sections. */
export function errorsDocument(): string {
  return [
    INTRODUCTION,
    '## Codes',
    codeTable(),
    '## Operations',
    errorTable({ ...errors, ...storeErrors, internalError }),
    '## Cloud Storage',
    errorTable(storageErrors),
    '## HTTP',
    errorTable(httpErrors),
    '## The `identity` command',
    errorTable({ ...commandErrors, ...placeErrors }, () => ''),
    '## Records of an import',
    RECORDS,
    recordTable(),
  ].join('\n\n');
}

function codeTable(): string {
  const rows = Object.entries(codes).map(([name, { number, httpStatus, meaning }]) => [
    String(number),
    code(name),
    String(httpStatus),
    meaning,
  ]);
  return table(['code', 'name', 'HTTP', 'meaning'], rows);
}

function errorTable(errorsByName: ErrorTable, shownStatus = (row: ErrorRow) => String(httpStatusFor(row))): string {
  const cells = Object.values(errorsByName)
    .map(({ row }) => row)
    .sort((a, b) => sortKey(a) - sortKey(b) || (a.reason < b.reason ? -1 : 1))
    .map((row) => {
      const status = `${codes[row.code].number} ${code(row.code)}`;
      const message = row.id === undefined ? row.text : `${row.text} (${row.id})`;
      return [shownStatus(row), status, code(row.reason), code(message)];
    });
  return table(['HTTP', 'code', 'name', 'message'], cells);
}

function sortKey(row: ErrorRow): number {
  return httpStatusFor(row) * 100 + codes[row.code].number;
}

function httpStatusFor({ code: name, httpStatus = codes[name].httpStatus }: ErrorRow): number {
  return httpStatus;
}

function recordTable(): string {
  const rows = recordErrors().map(({ section, type, id, key, when }) => [
    code(section),
    code(type),
    code(id),
    code(key),
    when,
  ]);
  return table(['section', 'type', 'id', 'key', 'when'], rows);
}
