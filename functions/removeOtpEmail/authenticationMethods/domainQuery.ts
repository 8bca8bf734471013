import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** Each field of ZITADEL's `DomainQuery` by its query parameters: the gateway accepts both spellings of each name. */
const parameters = {
  includeWithoutDomain: ['includeWithoutDomain', 'include_without_domain'],
  domain: ['domain'],
} as const;

const prefixes = ['domainQuery', 'domain_query'];

/** The texts that ZITADEL's gateway reads as booleans. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/**
 * Reads the message `DomainQuery` from a request's query. Other texts than booleans stay texts, and repeated parameters
 * become lists, which the contract rejects.
 * @returns undefined if the query has no such parameter
 */
export function readDomainQuery(query: Readonly<Record<string, string[]>>): JsonObject | undefined {
  const include = readParameter(query, parameters.includeWithoutDomain);
  const domain = readParameter(query, parameters.domain);
  if (include === undefined && domain === undefined) return undefined;
  return {
    ...(include === undefined ? {} : { includeWithoutDomain: toBoolean(include) }),
    ...(domain === undefined ? {} : { domain }),
  };
}

function readParameter(
  query: Readonly<Record<string, string[]>>,
  names: readonly string[],
): string | string[] | undefined {
  const values = prefixes.flatMap((prefix) => names.flatMap((name) => query[`${prefix}.${name}`] ?? []));
  return values.length > 1 ? values : values[0];
}

function toBoolean(value: string | string[]): JsonValue {
  return typeof value === 'string' ? (booleans.get(value) ?? value) : value;
}
