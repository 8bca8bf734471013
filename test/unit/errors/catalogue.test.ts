import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands/commands.ts';
import { instanceOptions } from '../../../cli/places/instanceLocation.ts';
import { exportFields } from '../../../functions/export/contract.ts';
import { importFields } from '../../../functions/import/contract.ts';
import * as command from '../../../shared/errors/commandErrors.ts';
import * as errors from '../../../shared/errors/errors.ts';
import * as http from '../../../shared/errors/httpErrors.ts';
import { isErrorFactory } from '../../../shared/errors/identityError.ts';
import { hasParams, type IssueRow, issueText, templateText } from '../../../shared/errors/issueText.ts';
import { manualSteps } from '../../../shared/errors/manualStepReasons.ts';
import * as places from '../../../shared/errors/placeErrors.ts';
import {
  instanceIssues,
  recordIssues,
  zitadelErrors,
  zitadelIssue,
  zitadelIssues,
} from '../../../shared/errors/recordIssues.ts';
import * as storage from '../../../shared/errors/storageErrors.ts';
import * as stores from '../../../shared/errors/storeErrors.ts';
import { warn, warnings } from '../../../shared/errors/warnings.ts';
import { leftToDoRules } from '../../../shared/exportFile/leftToDoRules.ts';
import { type RecordIssue, reportedIssue } from '../../../shared/organisation/relations.ts';
import { declaredSteps } from '../../../tools/docs/zitadelFacts.ts';

const root = join(import.meta.dirname, '../../..');
const rows: readonly (readonly [string, IssueRow])[] = Object.entries({ ...recordIssues, ...warnings, ...manualSteps });
const tables: readonly unknown[] = Object.values({ ...command, ...errors, ...http, ...places, ...storage, ...stores });
const errorRows = tables.filter(isErrorFactory).map(({ row }): readonly [string, IssueRow] => [row.reason, row]);
const steps: readonly (readonly [string, IssueRow])[] = Object.entries(declaredSteps());
const all = [...rows, ...steps, ...errorRows];

const sources = ['functions', 'shared', 'cli']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith('.ts') && !file.startsWith('shared/errors/'))
  .map((file) => readFileSync(join(root, file), 'utf8'));

describe('the catalogue of errors, errors of records, warnings and manual steps', () => {
  it('has each reason once', () => {
    expect(new Set(all.map(([reason]) => reason)).size).toBe(
      errorRows.length +
        [instanceIssues, zitadelIssues, warnings, manualSteps, declaredSteps()].flatMap((table) => Object.keys(table))
          .length,
    );
  });

  it('has a step of ZITADEL for each manual step that a section declares, with one text', () => {
    const texts = new Map<string, Set<string>>();
    for (const { reason, row } of leftToDoRules.filter(({ reason }) => !Object.hasOwn(manualSteps, reason)))
      texts.set(reason, (texts.get(reason) ?? new Set()).add(templateText(row, 'http')));
    for (const [reason, { size }] of texts) expect({ reason, size }).toEqual({ reason, size: 1 });
    expect(steps.map(([reason]) => reason)).toEqual(expect.arrayContaining([...texts.keys()]));
  });

  it.each(rows)('has %s, which the code raises', (reason) => {
    const keys = Object.entries(zitadelErrors).filter(([, meaning]) => meaning.reason === reason);
    const isRaised = sources.some((source) => source.includes(`'${reason}'`));
    const isStep = leftToDoRules.some((rule) => [rule.reason, rule.lacks?.step.reason].includes(reason));
    expect(isRaised || isStep || keys.length > 0 || reason === zitadelIssue('').reason).toBe(true);
  });

  it.each(all)('names options and commands that exist, in the text of %s for the command', (_reason, row) => {
    const text = templateText(row, 'command');
    const options = new Set(
      [instanceOptions, ...commands.map((one) => one.options)].flatMap((one) => Object.keys(one)),
    );
    for (const [, option = ''] of text.matchAll(/--([a-z-]+)/g)) expect(options).toContain(option);
    for (const [, name = ''] of text.matchAll(/(?:`|: )identity ([a-z-]+)/g))
      expect(commands.map((one) => one.name.split(' ')[0])).toContain(name);
    expect(text).not.toMatch(/\b(?:on_conflict|org_ids|excluded_org_ids|with_\w+)\b/);
  });

  it.each(all)('names fields of requests that exist, in the text of %s for clients', (_reason, row) => {
    const fields = new Set([...importFields.keys(), ...exportFields.keys()]);
    for (const [, field = ''] of templateText(row, 'http').matchAll(/`([a-z]+(?:_[a-z]+)+)`/g))
      expect(fields).toContain(field);
  });

  it.each(Object.entries(zitadelErrors))(
    'has all parameters for the error %s of ZITADEL',
    (_key, { reason, params }) => {
      expect(hasParams(recordIssues[reason], { ...params })).toBe(true);
    },
  );
});

// Each of these does not compile.
const incomplete: readonly RecordIssue[] = [
  // @ts-expect-error a reason without its parameters
  { id: '', key: 'k', reason: 'value_invalid' },
  // @ts-expect-error a reason with a parameter of another reason
  { id: '', key: 'k', reason: 'value_invalid', params: { limit: 'f' } },
  // @ts-expect-error a reason without one of its parameters
  { id: '', key: 'k', reason: 'value_too_long', params: { field: 'f' } },
  // @ts-expect-error a key of ZITADEL whose meaning is unknown
  { id: 'ORG-1', key: 'Errors.Unknown' },
];

it('an error of a record does not compile without the parameters of its reason', () => {
  for (const issue of incomplete.filter(({ reason }) => reason !== undefined)) {
    const { reason, params = {} } = reportedIssue(issue);
    expect(hasParams(recordIssues[reason], params)).toBe(false);
  }
});

it.each([
  ['Errors.Org.AlreadyExists', 'organisation'],
  ['Errors.Project.AlreadyExists', 'project'],
  ['Errors.Action.AlreadyExists', 'action'],
  ['Errors.IDPConfig.AlreadyExists', 'identity provider'],
] as const)('the error %s has the noun of the record as a parameter', (key, record) => {
  expect(reportedIssue({ id: 'V3-DKcYh', key, params: { holder: 'P' } })).toEqual({
    message: `ID=V3-DKcYh Message=${key}`,
    reason: 'name_taken',
    params: { record, holder: 'P' },
  });
});

it('a text has its parameters, and leaves out the optional parts without them', () => {
  const { params = {}, message } = warn('field_ignored', { nearest: 'timeout' });
  expect(message).toBe('the import ignores this unknown field of the request: the nearest known field is timeout');
  expect(params).toEqual({ nearest: 'timeout' });
  expect(warn('field_ignored', {})).toEqual({
    reason: 'field_ignored',
    message: 'the import ignores this unknown field of the request',
  });
  expect(warn('providers_not_exported', { providers: ['a', 'b[0]', '{c}'] }).message).toMatch(/: a, b\[0\], \{c\}$/);
  const taken = { record: 'project', holder: 'P', organisation: 'O' };
  expect(issueText(recordIssues.name_taken, taken, 'command')).toMatch(
    /^another project has the same name: P of organisation O: change one of the names$/,
  );
  const several = { text: 'missing[: {field} has {id}]' };
  expect(issueText(several, { field: 'a', id: 'b' }, 'command')).toBe('missing: a has b');
  for (const params of [{ field: 'a' }, { id: 'b' }, {}]) expect(issueText(several, params, 'command')).toBe('missing');
});

it.each([
  ['ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting', 'record_exists'],
  ['ID=ORG-lapo2n Errors.Org.AlreadyExisting', 'record_exists'],
  ['ID=V3-DKcYh Message=Errors.User.AlreadyExists', 'login_name_taken'],
  ['ID=V3-DKcYh Message=Errors.Project.Role.AlreadyExists Parent=(unique)', 'record_exists'],
  ['ID=EMAIL-599BI Errors.User.Email.Invalid', 'email_refused'],
  ['ID=CRYPT-5uV9n Message=Errors.Another', 'hash_cost_refused'],
])("ZITADEL's error %s means %s", (message, reason) => {
  expect(zitadelIssue(message)).toMatchObject({ message, reason });
});

it.each(['ID=Org-WSfdq Message=Errors.Org.LoginPolicy.RedirectURIInvalid', 'a sentence', ''])(
  "ZITADEL's error %j has a reason with the message, although its meaning is unknown",
  (message) => {
    expect(zitadelIssue(message)).toEqual({ message, reason: 'zitadel_refuses', params: { error: message } });
  },
);
