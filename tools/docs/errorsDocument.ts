import * as commandErrors from '../../shared/errors/commandErrors.ts';
import * as errors from '../../shared/errors/errors.ts';
import * as httpErrors from '../../shared/errors/httpErrors.ts';
import { type Code, codes, type ErrorRow, internalError, isErrorFactory } from '../../shared/errors/identityError.ts';
import { type IssueRow, templateText } from '../../shared/errors/issueText.ts';
import { manualSteps } from '../../shared/errors/manualStepReasons.ts';
import * as placeErrors from '../../shared/errors/placeErrors.ts';
import { instanceIssues, zitadelIssues } from '../../shared/errors/recordIssues.ts';
import * as storageErrors from '../../shared/errors/storageErrors.ts';
import * as storeErrors from '../../shared/errors/storeErrors.ts';
import { warnings } from '../../shared/errors/warnings.ts';
import { code, table } from './markdown.ts';
import { declaredSteps } from './zitadelFacts.ts';

type ErrorTable = Readonly<Record<string, unknown>>;

const INTRODUCTION = `# Errors

Names and parameters are stable; the \`ErrorInfo\` of an error has both. Parts of texts in brackets are absent without their parameters. Ids in parentheses are ZITADEL's.
See also [the form of an error](specification.md#23-error-body), [the codes](specification.md#72-codes-and-statuses) and [ZITADEL's ids of the errors of single records](zitadel.md#57-errors-of-single-records).`;

const RECORDS =
  'An import lists the records with errors in `errors`, each with ZITADEL’s message, a reason and its parameters. Parts in brackets are absent without their parameters.';
const ZITADEL_RECORDS =
  'Imports into ZITADEL, which the command makes, have these reasons too. A `message` is ZITADEL’s, or the text of the reason if the command has found the error.';
const WARNINGS =
  'An import lists warnings in `summary.warnings`. Their type is that of the record, or `request`, `manifest`, `state`, `privilege`, `domain` or `domain_policy`. The command adds warnings of the types `upload` and `export`, and the last ones of the table in imports into ZITADEL.';

const STEPS =
  'Manifests list manual steps in `leftToDo`, and plans and results of migrations too. Behind those of every target are those after an import into ZITADEL.';

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
    '## Records',
    RECORDS,
    issueTable(instanceIssues),
    ZITADEL_RECORDS,
    issueTable(zitadelIssues),
    '## Warnings',
    WARNINGS,
    issueTable(warnings),
    '## Manual steps',
    STEPS,
    issueTable({ ...manualSteps, ...declaredSteps() }),
  ].join('\n\n');
}

function errorTable(errorsByName: ErrorTable): string {
  const cells = sorted(errorsByName).map((row) => {
    const text = templateText(row, 'http') + (row.id === undefined ? '' : ` (${row.id})`);
    return [code(row.reason), String(codes[row.code].number), String(httpStatusOf(row)), code(text)];
  });
  return table(['name', 'code', 'HTTP', 'text'], cells);
}

/** The table omits the texts, because the command prints them with the remedy. */
function nameTable(errorsByName: ErrorTable): string {
  const byCode = new Map<Code, ErrorRow[]>();
  for (const row of sorted(errorsByName)) byCode.set(row.code, [...(byCode.get(row.code) ?? []), row]);
  const cells = [...byCode].map(([name, rows]) => [
    String(codes[name].number),
    rows.map(({ reason }) => code(reason)).join(', '),
  ]);
  return table(['code', 'names'], cells);
}

function issueTable(rows: Readonly<Record<string, IssueRow>>): string {
  const cells = Object.entries(rows).map(([reason, row]) => [code(reason), code(templateText(row, 'http'))]);
  return table(['reason', 'text'], cells);
}

function sorted(errorsByName: ErrorTable): ErrorRow[] {
  return Object.values(errorsByName)
    .flatMap((value) => (isErrorFactory(value) ? [value.row] : []))
    .sort((a, b) => sortKey(a) - sortKey(b) || (a.reason < b.reason ? -1 : 1));
}

function sortKey(row: ErrorRow): number {
  return httpStatusOf(row) * 100 + codes[row.code].number;
}

function httpStatusOf({ code: name, httpStatus = codes[name].httpStatus }: ErrorRow): number {
  return httpStatus;
}
