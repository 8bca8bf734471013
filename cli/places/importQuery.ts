import { importOptions } from '../../functions/import/contract.ts';
import { defined } from '../../shared/defined.ts';
import { snakeCase } from '../../shared/json/spelling.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { usageError } from '../terminal/command.ts';
import { numberText } from '../terminal/numberTexts.ts';

/** The maximum length of a query. Proxies such as nginx reject a request line of more than 8 KB. */
const MAX_QUERY_CHARACTERS = 8_000;

/** @param shape an object whose fields are the options that the request can contain */
export function toRequest(
  { timeoutMs, ...options }: PlaceExportOptions | PlaceImportOptions,
  shape: object,
): Record<string, unknown> {
  const entries = Object.entries(options).filter(([name, value]) => Object.hasOwn(shape, name) && value !== undefined);
  const fields = entries.map(([name, value]) => [snakeCase(name), value]);
  return {
    ...defined({ timeout: timeoutMs === undefined ? undefined : `${timeoutMs}ms` }),
    ...Object.fromEntries(fields),
  };
}

/**
 * Returns the options of an import as a query. The body contains only the imported file: if it could contain options
 * too, the creator of the file could set them.
 */
export function importQuery(options: PlaceImportOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toRequest(options, importOptions)))
    for (const element of Array.isArray(value) ? value : [value]) query.append(name, String(element));
  return query.toString();
}

/**
 * Requires that the options of an import fit into a query. The ids of many organisations do not fit.
 * @throws IdentityError USAGE_INVALID
 */
export function requireSendable(options: PlaceImportOptions): void {
  const { length } = importQuery(options);
  if (length <= MAX_QUERY_CHARACTERS) return;
  const limit = `make the query ${numberText(length)} characters long, more than the limit of ${numberText(MAX_QUERY_CHARACTERS)}`;
  throw usageError(
    `--org and --exclude-org ${limit}: specify fewer organisations per call, or export a file that contains only these organisations`,
  );
}
