// Converts options of exports and imports to fields and queries of requests.

import { importOptions } from '../../functions/import/contract.ts';
import { defined } from '../../shared/defined.ts';
import { snakeCase } from '../../shared/json/spelling.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { usageError } from '../terminal/command.ts';
import { numberText } from '../terminal/numberTexts.ts';

/** Proxies such as nginx reject request lines of more than 8 KB. */
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
  return {
    ...defined({ timeout: timeoutMs === undefined ? undefined : `${timeoutMs}ms` }),
    ...Object.fromEntries(fields),
  };
}

/** Returns the options of an import as a query. Options in the body would allow the file in the body to set options. */
export function importQuery(options: PlaceImportOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toRequest(options, importOptions)))
    for (const element of Array.isArray(value) ? value : [value]) query.append(name, String(element));
  return query.toString();
}

/**
 * Requires that the options of an import fit into a query. Ids of many organisations do not fit.
 * @throws IdentityError USAGE_INVALID
 */
export function requireSendable(options: PlaceImportOptions): void {
  const { length } = importQuery(options);
  if (length <= MAX_QUERY_CHARACTERS) return;
  const limit = `need ${numberText(length)} characters in a request, whose limit is ${numberText(MAX_QUERY_CHARACTERS)}`;
  throw usageError(
    `--org and --exclude-org ${limit}: specify fewer organisations per call, or export a file that contains only these organisations`,
  );
}
