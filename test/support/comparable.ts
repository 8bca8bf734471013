import type { Organisation } from './zitadelFixture.ts';

/**
 * Organisations by their id, each list of records in one order, so that two documents which hold the same are equal. What
 * is inside a record keeps its order: redirect URIs or roles mean something by it.
 */
export function comparable(orgs: readonly Organisation[]): Record<string, unknown> {
  const byId = orgs.map((org): [string, unknown] => [org.orgId, withSortedLists(org)]);
  if (new Set(byId.map(([orgId]) => orgId)).size < orgs.length) throw new Error('an organisation is there twice');
  return Object.fromEntries(byId);
}

function withSortedLists(org: Organisation): Record<string, unknown> {
  const fields = Object.entries(org).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? value.toSorted(byText) : value,
  ]);
  return Object.fromEntries(fields);
}

function byText(one: unknown, other: unknown): number {
  return stable(one) < stable(other) ? -1 : 1;
}

/** JSON with the fields of objects in the order of their names. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
