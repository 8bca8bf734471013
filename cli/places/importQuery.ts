// Options of exports and imports as fields and queries of requests.

import { importOptions } from '../../functions/import/contract.ts';
import { snakeCase } from '../../shared/wire/requestMessage.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';

/** Proxies such as nginx reject a request line of more than 8 KB. */
const MAX_QUERY_CHARACTERS = 8_000;

/**
 * Converts options to the fields of a request.
 * @param shape the schemas of the request's options
 */
export function toRequest(
  { timeoutMs, ...options }: PlaceExportOptions | PlaceImportOptions,
  shape: object,
): Record<string, unknown> {
  const known = Object.entries(options).filter(([name, value]) => Object.hasOwn(shape, name) && value !== undefined);
  const fields = known.map(([name, value]) => [snakeCase(name), value]);
  return { ...(timeoutMs === undefined ? {} : { timeout: `${timeoutMs}ms` }), ...Object.fromEntries(fields) };
}

/** Returns the options of an import as a query. The body is the file alone, so that its content cannot set options. */
export function importQuery(options: PlaceImportOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toRequest(options, importOptions)))
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  return query.toString();
}

/** Whether a query can contain the options of an import. With many organisations it is too long. */
export function fitsQuery(options: PlaceImportOptions): boolean {
  return importQuery(options).length <= MAX_QUERY_CHARACTERS;
}
