import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from './jsonObject.ts';
import type { Observation } from './recordedCase.ts';

/** A difference between ZITADEL's observation and this service's. */
export interface Difference {
  /** The part of the observation, such as `exported` or `error missing`. */
  readonly part: string;
  /** The path inside the part, without positions in lists. */
  readonly path: string;
  readonly zitadel: unknown;
  readonly ours: unknown;
}

/** The lists whose order has a meaning. */
const ORDERED =
  /\.(?:redirectUris|postLogoutRedirectUris|additionalOrigins|actionIds|scopes|secondFactors|multiFactors|responseTypes|grantTypes|roles|roleKeys)$/;
/** The fields that identify an element of a list, in the order of preference. */
const IDENTITIES = ['userId', 'projectId', 'id', 'domainName', 'orgId', 'language', 'appId', 'idpId', 'actionId'];

/** Lists the differences between two observations of a case. */
export function differences(zitadel: Observation, ours: Observation): Difference[] {
  const status = zitadel.status === ours.status ? [] : [difference('status', '', zitadel.status, ours.status)];
  return [
    ...status,
    ...bodyDifferences(zitadel.body, ours.body),
    ...headerDifferences(zitadel.headers ?? {}, ours.headers ?? {}),
    ...errorDifferences(zitadel.errors ?? [], (ours.errors ?? []).map(withoutReason)),
    ...valueDifferences('success', '', zitadel.success ?? {}, ours.success ?? {}),
    ...(zitadel.exported === undefined ? [] : valueDifferences('exported', '', zitadel.exported, ours.exported)),
  ];
}

function difference(part: string, path: string, zitadel: unknown, ours: unknown): Difference {
  return { part, path, zitadel, ours };
}

/** Compares the recorded headers only. */
function headerDifferences(zitadel: JsonObject, ours: JsonObject): Difference[] {
  return Object.entries(zitadel).flatMap(([name, value]) => valueDifferences('header', `.${name}`, value, ours[name]));
}

function bodyDifferences(zitadel: unknown, ours: unknown): Difference[] {
  const [a, b] = [comparableBody(zitadel), comparableBody(ours)];
  if (!('code' in a) && !('code' in b)) return valueDifferences('body', '', zitadel ?? {}, ours ?? {});
  const found: Difference[] = [];
  if (a.code !== b.code) found.push(difference('code', '', a.code, b.code));
  if (idOf(a) !== idOf(b)) found.push(difference('error id', '', idOf(a), idOf(b)));
  if (a.message !== b.message) found.push(difference('message', '', a.message, b.message));
  // Further details do not count as a difference.
  else {
    const [rest, others] = [a, b].map(({ message: _, ...fields }) => fields);
    found.push(...valueDifferences('body', '', rest, others).filter(({ zitadel: value }) => value !== undefined));
  }
  return found;
}

/** Returns a body whose message lacks what depends on the run: the bytes of a request, and the port of an unknown host. */
function comparableBody(value: unknown): JsonObject {
  const body = objectOf(value);
  if (typeof body.message !== 'string') return body;
  const message = body.message
    .replace(/larger than max \(\d+/, 'larger than max (N')
    .replaceAll(/unknown\.example:\d+/g, 'unknown.example');
  return { ...body, message };
}

/** Returns an error without the fields that ZITADEL lacks, which do not count as a difference. */
function withoutReason(error: unknown): JsonObject {
  const { reason: _, params: __, ...fields } = objectOf(error);
  return fields;
}

function errorDifferences(zitadel: readonly unknown[], ours: readonly unknown[]): Difference[] {
  const [missing, extra] = withoutEqual(zitadel, ours);
  const found: Difference[] = [];
  for (const error of missing.map(objectOf)) {
    const sameType = extra.map(objectOf).filter(({ type }) => type === error.type);
    const other = sameType.find(({ id }) => id === error.id) ?? sameType[0];
    const partner = extra.indexOf(other);
    if (partner < 0) {
      found.push(difference('error missing', '', error, undefined));
      continue;
    }
    extra.splice(partner, 1);
    const part = idOf(error) === idOf(other ?? {}) ? 'message' : 'error id';
    found.push(difference(part, '', error, other));
  }
  return [...found, ...extra.map((error) => difference('error extra', '', undefined, error))];
}

function valueDifferences(part: string, path: string, zitadel: unknown, ours: unknown): Difference[] {
  if (isDeepStrictEqual(zitadel, ours)) return [];
  if (Array.isArray(zitadel) && Array.isArray(ours)) return listDifferences(part, path, zitadel, ours);
  if (!isJsonObject(zitadel) || !isJsonObject(ours)) return [difference(part, path, zitadel, ours)];
  const names = new Set([...Object.keys(zitadel), ...Object.keys(ours)]);
  return [...names].flatMap((name) => valueDifferences(part, `${path}.${name}`, zitadel[name], ours[name]));
}

function listDifferences(part: string, path: string, zitadel: readonly unknown[], ours: readonly unknown[]) {
  const [missing, extra] = withoutEqual(zitadel, ours, !ORDERED.test(path));
  if (missing.length === 0 && extra.length === 0 && ORDERED.test(path) && !isDeepStrictEqual(zitadel, ours))
    return [difference(part, `${path}[]`, zitadel, ours)];
  const isOnlyPair = missing.length === 1 && extra.length === 1;
  const found: Difference[] = [];
  for (const element of missing) {
    const identity = identityOf(element);
    const index = isOnlyPair ? 0 : extra.findIndex((other) => identity !== undefined && identityOf(other) === identity);
    const partner = index < 0 ? undefined : extra.splice(index, 1)[0];
    found.push(...valueDifferences(part, `${path}[]`, element, partner));
  }
  return [...found, ...extra.map((element) => difference(part, `${path}[]`, undefined, element))];
}

/** Returns the elements of each list that the other list lacks. */
function withoutEqual(a: readonly unknown[], b: readonly unknown[], isUnordered = true): [unknown[], unknown[]] {
  const rest = [...b];
  const missing = a.filter((element) => {
    const index = rest.findIndex((other) =>
      isDeepStrictEqual(sorted(element, isUnordered), sorted(other, isUnordered)),
    );
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
  return [missing, rest];
}

/** Sorts the lists inside a value, except those whose order has a meaning. */
function sorted(value: unknown, isUnordered: boolean): unknown {
  if (Array.isArray(value)) {
    const elements = value.map((element) => sorted(element, true));
    if (!isUnordered) return elements;
    const texts = new Map(elements.map((element) => [element, JSON.stringify(element)]));
    return elements.sort((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1));
  }
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name], !ORDERED.test(`.${name}`))]));
}

function identityOf(value: unknown): unknown {
  const object = objectOf(value);
  return IDENTITIES.map((name) => object[name]).find((id) => id !== undefined);
}

function idOf(error: JsonObject): string {
  const details: unknown = Array.isArray(error.details) ? error.details[0] : undefined;
  return /ID=(\S+)/.exec(String(error.message ?? ''))?.[1] ?? String(objectOf(details).id ?? '');
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
