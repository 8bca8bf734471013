import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, placeOf } from './kinds.ts';
import { type Model, nameOf } from './model.ts';
import { readFile } from './modelFile.ts';
import { identityOf, importFile, type Options, withProjectGrant } from './modelImport.ts';

/**
 * Whether the specification leaves open what becomes of a file's records (6.3): who gets a name that several want while
 * its holder gives it up, or while one of them makes room for another record, whether an interrupted import has settled
 * the scope of login names, or whether a later record with a failed one's id is imported.
 */
export function hasOpenOutcome(model: Model, orgs: readonly Organisation[], options: Options): boolean {
  const records = readFile(orgs).flatMap((entry) => entry.records);
  const after = model.clone();
  importFile(after, orgs, options);
  const wanted = records.map((one) => nameOf(one, after)).filter((name) => name !== undefined);
  const contended = new Set(wanted.filter((name, index) => wanted.indexOf(name) !== index));
  const isContended = (one: ModelRecord) => {
    const stored = model.records.get(placeOf(one));
    const present = stored === undefined ? undefined : nameOf(stored, model);
    const next = nameOf(one, after);
    if (present === undefined || present === next) return false;
    return contended.has(present) || (next !== undefined && contended.has(next) && wanted.includes(present));
  };
  const isUnsure = ({ section, orgId }: ModelRecord) =>
    section === 'domainPolicy' && model.scopes.get(orgId) === 'unsure';
  return records.some((one) => isContended(one) || isUnsure(one)) || leavesRepetitionOpen(after, records, options);
}

/** Whether the first record with an id fails, so that another one with the same id may take its place. */
function leavesRepetitionOpen(after: Model, records: readonly ModelRecord[], { onConflict }: Options): boolean {
  const isStored = (one: ModelRecord) =>
    [one, withProjectGrant(after, one)].some((form) => after.records.has(placeOf(form)));
  return [...Map.groupBy(records, identityOf).values()].some(
    (same) => onConflict === 'report' && same.length > 1 && !same.some(isStored),
  );
}
