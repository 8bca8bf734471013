import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, putAt, textAt, valueAt } from '../json/jsonObject.ts';
import type { FieldPath } from './relations.ts';
import type { OwnProviders, Section } from './section.ts';

/** A field that ZITADEL fills in where an imported record has none, so that its exports hold it (zitadel 4.3). */
interface FilledField {
  readonly section: string;
  readonly path: FieldPath;
  /** What is filled in. */
  readonly value: unknown | ((json: JsonObject) => unknown);
  /** Who fills it in: every export, or ZITADEL alone when it imports. */
  readonly by: 'exports' | 'zitadel';
}

const lifetimes = [
  ...['passwordCheckLifetime', 'externalLoginCheckLifetime', 'mfaInitSkipLifetime'],
  ...['secondFactorCheckLifetime', 'multiFactorCheckLifetime'],
];

/**
 * All fields that are filled in. Records that differ only in such a field, which one of them lacks, are equal: for an
 * import, for a comparison, and for what ZITADEL has already. Nothing is filled in on storing.
 */
export const filledFields: readonly FilledField[] = [
  ...lifetimes.map((path) => ({ section: 'loginPolicy', path, value: '0s', by: 'exports' }) as const),
  { section: 'oidcApps', path: 'app.responseTypes', value: ['OIDC_RESPONSE_TYPE_CODE'], by: 'exports' },
  { section: 'oidcApps', path: 'app.grantTypes', value: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'], by: 'exports' },
  { section: 'oidcApps', path: 'app.clockSkew', value: '0s', by: 'exports' },
  { section: 'humanUsers', path: 'user.profile.displayName', value: fullName, by: 'zitadel' },
  { section: 'humanUsers', path: 'user.profile.preferredLanguage', value: 'und', by: 'zitadel' },
];

const bySection = Map.groupBy(filledFields, ({ section }) => section);

function fullName(person: JsonObject): string {
  return `${textAt(person, 'user.profile.firstName', '')} ${textAt(person, 'user.profile.lastName', '')}`;
}

function filledValue({ value }: FilledField, json: JsonObject): unknown {
  return typeof value === 'function' ? value(json) : value;
}

/**
 * Fills in a record's fields in place.
 * @param by who fills them in
 * @returns whether a value was missing
 */
export function fillIn(section: string, json: JsonObject, by: FilledField['by']): boolean {
  const fields = bySection.get(section)?.filter((field) => field.by === by) ?? [];
  const missing = fields.filter(({ path }) => valueAt(json, path) === undefined);
  for (const field of missing) putAt(json, field.path, structuredClone(filledValue(field, json)));
  return missing.length > 0;
}

/** Whether records of the section can have fields that are filled in. */
export function hasFilledFields({ name, exported }: Section): boolean {
  return bySection.has(name) || exported?.withoutFilled !== undefined;
}

/**
 * Returns a record without the values that are filled in, by which it is compared.
 * @param isOwnProvider whether an identity provider is one of the record's organisation
 */
export function withoutFilled({ name, exported }: Section, json: JsonObject, isOwnProvider: OwnProviders): JsonObject {
  const filled = (bySection.get(name) ?? []).filter((field) =>
    isDeepStrictEqual(valueAt(json, field.path), filledValue(field, json)),
  );
  const rest = filled.length === 0 ? json : structuredClone(json);
  for (const { path } of filled) removeAt(rest, path);
  return exported?.withoutFilled?.(rest, isOwnProvider) ?? rest;
}

function removeAt(json: JsonObject, path: FieldPath): void {
  const parent = path.includes('.') ? valueAt(json, path.slice(0, path.lastIndexOf('.'))) : json;
  if (typeof parent === 'object' && parent !== null)
    Reflect.deleteProperty(parent, path.slice(path.lastIndexOf('.') + 1));
}
