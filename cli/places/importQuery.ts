import { snakeCase } from '../../shared/wire/requestMessage.ts';
import type { ExportOptions, ImportOptions } from '../exports/place.ts';

/** Proxies such as nginx reject a request line of more than 8 KB. */
const MAX_CHARACTERS = 8_000;

/** Returns options as the fields of a request. */
export function toRequest({ timeoutMs, ...options }: ExportOptions | ImportOptions): Record<string, unknown> {
  const fields = Object.entries(options).map(([name, value]) => [snakeCase(name), value]);
  return { ...(timeoutMs === undefined ? {} : { timeout: `${timeoutMs}ms` }), ...Object.fromEntries(fields) };
}

/** Returns the options of an import as a query: the body is the file alone, so that nothing in it can set an option. */
export function importQuery(options: ImportOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toRequest(options)))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one));
  return query.toString();
}

/** Whether a query may hold the options of an import. One that names many organisations is too long. */
export function fitsQuery(options: ImportOptions): boolean {
  return importQuery(options).length <= MAX_CHARACTERS;
}
