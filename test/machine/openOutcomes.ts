import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, placeOf } from './kinds.ts';
import type { Model } from './model.ts';
import { readFile } from './modelFile.ts';
import { identityOf, importFile, type Options, reportsConflicts, withProjectGrant } from './modelImport.ts';

/**
 * Whether the specification leaves the outcome of a file's records open (6.3): whether an interrupted import has fixed the
 * scope of login names, or whether a later record with a failed one's id is imported.
 */
export function hasOpenOutcome(model: Model, orgs: readonly Organisation[], options: Options): boolean {
  const records = readFile(orgs).flatMap((entry) => entry.records);
  const after = model.clone();
  importFile(after, orgs, options);
  const isUnsure = ({ section, orgId }: ModelRecord) =>
    section === 'domainPolicy' && model.scopes.get(orgId) === 'unsure';
  return records.some(isUnsure) || leavesRepetitionOpen(after, records, options);
}

/** Whether the first record with an id fails, so that a later record with the same id may take its place. */
function leavesRepetitionOpen(after: Model, records: readonly ModelRecord[], options: Options): boolean {
  const isStored = (one: ModelRecord) =>
    [one, withProjectGrant(after, one)].some((form) => after.records.has(placeOf(form)));
  return [...Map.groupBy(records, identityOf).values()].some(
    (same) => reportsConflicts(options) && same.length > 1 && !same.some(isStored),
  );
}

/** Whether several records of a file have one id. */
export function hasRepetitions(orgs: readonly Organisation[]): boolean {
  const records = readFile(orgs).flatMap((entry) => entry.records);
  return new Set(records.map(identityOf)).size < records.length;
}
