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

const COMMAND =
  'They reach the user of the command on standard error, with exit code 1, or 64 for `INVALID_ARGUMENT`. Most commands can also fail with an error of the database.';

const INTRODUCTION = `# Errors

Every error of the three operations has the same body. \`code\` is a gRPC status code, and \`details\` is omitted when empty:

\`\`\`json
${JSON.stringify(errors.userNotFound().toJson())}
\`\`\`

- An error with an id is ZITADEL's, with ZITADEL's text. The id also stands at the end of the message, in parentheses.
- Every error has a name, which never changes. Where neither id nor text are ZITADEL's, \`details\` end with a \`google.rpc.ErrorInfo\`: its \`reason\` is the name, its \`domain\` is \`identity\`.
- An invalid request lists its violations in \`details\`, as \`google.rpc.BadRequest\` with \`fieldViolations\`.
- Over gRPC and gRPC-Web, \`code\` is the \`grpc-status\`; Connect spells its name in lower case.
- Values in the messages of the tables are examples. Where a message says what to do, the last column is empty, or says more.
- A successful import can report errors of single records: see [Records of an import](#records-of-an-import).`;

const RECORDS = `A record that cannot be imported does not stop the import. The response lists it in \`errors\`, with the \`type\` and the \`id\` of the record,
and a message of the form \`ID=<id> Message=<key>\`. Ids and keys are ZITADEL's. Where ZITADEL has no id, the key is the whole message. An id that starts with \`IMPORT-\` is our own, where ZITADEL reports nothing.
A record of any type with a text or list above its [limit](specification.md#82-sizes) has the id \`IMPORT-tooLong\`, with the path of the field and the limit in place of the key.
A record of any type that would break a rule in an export has ZITADEL's message of the rule, without an id: [its form in an export](zitadel.md#33-what-is-checked) must be one that an import accepts.
A record with equal content is not an error: it counts as \`unchanged\`.`;

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
    COMMAND,
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
      return [shownStatus(row), status, ...[row.reason, row.id ?? '', row.text].map(code), row.when, row.remedy ?? ''];
    });
  return table(['HTTP', 'code', 'name', 'id', 'message', 'when', 'what to do'], cells);
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
