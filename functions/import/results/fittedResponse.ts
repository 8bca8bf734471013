import { withoutEmpty } from '../../../shared/defined.ts';
import type { Deletion, ImportError, ImportResponse } from '../contract.ts';

type Lists = {
  readonly errors: readonly ImportError[];
  readonly deletions: readonly Deletion[];
  readonly warnings: ImportResponse['summary']['warnings'];
};

/**
 * Returns a response as JSON of at most `maxBytes` bytes. If it is too long, first omits the lists of ids; then entries
 * of the lists of warnings, deletions and errors; then the organisations. `summary` counts the omitted entries, so that
 * a long response does not hide the outcome.
 * @param maxBytes Infinity for no limit
 */
export function fittedResponse(response: ImportResponse, maxBytes: number): string {
  const whole = JSON.stringify(response);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const shorter = withoutIds(response);
  const { errors = [], deletions = [], summary } = shorter;
  const bare = withLists(shorter, { errors: [], deletions: [], warnings: [] });
  // Leave space for the counts of omitted entries.
  let room = maxBytes - Buffer.byteLength(JSON.stringify(bare)) - COUNTER_BYTES;
  const take = <Item>(items: readonly Item[]): Item[] => {
    const taken: Item[] = [];
    for (const item of items) {
      room -= Buffer.byteLength(JSON.stringify(item)) + 1;
      if (room < 0) break;
      taken.push(item);
    }
    return taken;
  };
  const { createdOrgs: _, ...counts } = bare.summary;
  if (room < 0) return JSON.stringify({ ...bare, success: {}, summary: counts });
  const kept = { errors: take(errors), deletions: take(deletions), warnings: take(summary.warnings) };
  return JSON.stringify(withLists(shorter, kept));
}

const COUNTER_BYTES = 100;

function withoutIds({ success, summary, ...response }: ImportResponse): ImportResponse {
  const { orgs } = success;
  return {
    ...response,
    success: orgs === undefined ? {} : { orgs: orgs.map(({ orgId }) => ({ orgId })) },
    summary: { ...summary, idsOmitted: true },
  };
}

function withLists(response: ImportResponse, { errors, deletions, warnings }: Lists): ImportResponse {
  const { errors: allErrors = [], deletions: allDeletions = [], summary, ...rest } = response;
  const counters = withoutEmpty({
    errorsOmitted: (summary.errorsOmitted ?? 0) + allErrors.length - errors.length,
    deletionsOmitted: (summary.deletionsOmitted ?? 0) + allDeletions.length - deletions.length,
    warningsOmitted: (summary.warningsOmitted ?? 0) + summary.warnings.length - warnings.length,
  });
  return {
    ...withoutEmpty({ errors: [...errors] }),
    ...rest,
    summary: { ...summary, warnings: [...warnings], ...counters },
    ...withoutEmpty({ deletions: [...deletions] }),
  };
}
