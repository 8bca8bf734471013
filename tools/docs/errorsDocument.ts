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

const PARAMETER = /\{\w+\}/g;

type ErrorTable = Readonly<Record<string, unknown>>;

const INTRODUCTION = `# Errors

Names, reasons and parameters are stable; texts change. Ids in parentheses are ZITADEL's. Each message has the problem and, unless it is obvious, the remedy; those of [records](#records) are ZITADEL's.
The specification has [the form of an error](specification.md#23-error-body) and [the codes](specification.md#72-codes-and-statuses).`;

const RECORDS =
  'Reasons in `errors` of an import’s response. The response’s `message` is [ZITADEL’s](zitadel.md#57-errors-of-single-records); the command prints the texts below, with more details.';
const ZITADEL_RECORDS = 'The command’s imports into ZITADEL have these reasons too:';
const WARNINGS =
  'Reasons in `summary.warnings`. The type of a warning is that of its record, or `request`, `manifest`, `state`, `privilege`, `domain`, `domain_policy` or `mirror`; in events of the command, also `upload`, `export` or `import`.';

const STEPS = 'Reasons in `leftToDo` of manifests, plans and results.';
const ZITADEL_STEPS = 'Imports into ZITADEL have these reasons too:';

export function errorsDocument(): string {
  return [
    INTRODUCTION,
    '## Operations',
    errorList({ ...errors, ...storeErrors, internalError }),
    '## Cloud Storage',
    errorList(storageErrors),
    '## HTTP',
    errorList(httpErrors),
    '## The `identity` command',
    nameTable({ ...commandErrors, ...placeErrors }),
    '## Records',
    RECORDS,
    issueList(instanceIssues),
    ZITADEL_RECORDS,
    nameList(zitadelIssues),
    '## Warnings',
    WARNINGS,
    nameList(warnings),
    '## Manual steps',
    STEPS,
    nameList(manualSteps),
    ZITADEL_STEPS,
    nameList(declaredSteps()),
  ].join('\n\n');
}

function errorList(errorsByName: ErrorTable): string {
  const byStatus = Map.groupBy(sorted(errorsByName), (row) => `${httpStatusOf(row)} ${codes[row.code].number}`);
  const cells = [...byStatus].map(([status, rows]) => [...status.split(' '), rows.map(describeError).join(', ')]);
  return table(['HTTP', 'code', 'names'], cells);
}

function describeError({ reason, id, ...row }: ErrorRow): string {
  return describeName(reason, row, id === undefined ? [] : [`(${code(id)})`]);
}

/**
 * Describes an error by its name and its parameters. The document omits the error's text, because every error message
 * contains the text.
 */
function describeName(name: string, row: IssueRow, facts: readonly string[] = []): string {
  const parameters = templateText(row, 'http').match(PARAMETER) ?? [];
  return [code(name), ...facts, ...new Set(parameters)].join(' ');
}

/**
 * Lists the names of the command's errors. Omits the texts, because the command itself prints the text and the remedy.
 */
function nameTable(errorsByName: ErrorTable): string {
  const byCode = new Map<Code, ErrorRow[]>();
  for (const row of sorted(errorsByName)) byCode.set(row.code, [...(byCode.get(row.code) ?? []), row]);
  const cells = [...byCode].map(([name, rows]) => [
    String(codes[name].number),
    rows.map(({ reason }) => code(reason)).join(', '),
  ]);
  return table(['code', 'names'], cells);
}

function issueList(rows: Readonly<Record<string, IssueRow>>): string {
  return Object.entries(rows)
    .map(([reason, row]) => describeIssue(reason, templateText(row, 'http')))
    .join('\n');
}

/**
 * Describes an issue by its name and text. Some parts of the text are optional: leaves them out, and lists their
 * parameters after the name.
 */
function describeIssue(reason: string, template: string): string {
  const text = template.replaceAll(/\[[^\]]*\]/g, '');
  const optional = (template.match(PARAMETER) ?? []).filter((parameter) => !text.includes(parameter));
  return `- ${[code(reason), ...new Set(optional)].join(' ')}: ${text}`;
}

function nameList(rows: Readonly<Record<string, IssueRow>>): string {
  return `${Object.entries(rows)
    .map(([reason, row]) => describeName(reason, row))
    .join(', ')}.`;
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
