import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operationDenied, organisationsExist, tokenInvalid } from '../../../shared/errors/errors.ts';
import type { ErrorFactory } from '../../../shared/errors/identityError.ts';
import { placeRefused } from '../../../shared/errors/placeErrors.ts';
import { errorNames } from '../../fixtures/errorNames.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';

const tables = join(import.meta.dirname, '../../../shared/errors');

it('every error has one name, which has never been that of another error', async () => {
  const files = await readdir(tables);
  const modules = await Promise.all(files.map((file): Promise<object> => import(join(tables, file))));
  const rows = modules.flatMap((module) => Object.values(module).filter(isFactory)).map(({ row }) => row);
  const named = rows.map(({ reason, code }) => [reason, code] as const);
  expect(named.toSorted()).toEqual(Object.entries(errorNames).toSorted());
  for (const [name] of named) expect(name).toMatch(/^(?=.{1,63}$)[A-Z][A-Z0-9_]+[A-Z0-9]$/);
});

it('errors are distinguished, even if one error reports another or is the body of an instance', () => {
  const error = organisationsExist({ orgIds: ['1'] });
  for (const one of [
    error,
    placeRefused({ place: 'north', reason: '' }, { cause: error }),
    placeRefused({ place: 'north', reason: '' }, { cause: error.toJson() }),
  ]) {
    expect(organisationsExist.is(one)).toBe(true);
    expect(operationDenied.is(one)).toBe(false);
  }
  expect([organisationsExist.is(error.toJson()), tokenInvalid.is(undefined)]).toEqual([false, false]);
});

it('the errors of this service have their names in their details, and those of ZITADEL are unchanged', () => {
  expect(organisationsExist({ orgIds: ['1'] }).toJson().details).toEqual([
    errorInfo('ORGANISATIONS_EXIST', { orgIds: '1' }),
  ]);
  expect(JSON.stringify(tokenInvalid().toJson())).toBe(
    '{"code":16,"message":"Errors.Token.Invalid (AUTH-7fs1e)","details":[{"@type":"type.googleapis.com/zitadel.v1.ErrorDetail","id":"AUTH-7fs1e","message":"Errors.Token.Invalid"}]}',
  );
});

function isFactory(value: unknown): value is ErrorFactory<never> {
  return typeof value === 'function' && 'row' in value;
}
