import { recordSection } from '../../shared/organisation/allSections.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, nameOf, placeOf, requiredKeys } from './kinds.ts';
import type { Model } from './model.ts';
import { readFile, type Stated } from './modelFile.ts';
import { importFile, type Options, type Outcome, withProjectGrant } from './modelImport.ts';

/** What a mirroring import does: it deletes some records and imports the file, or it fails and deletes nothing. */
export type Mirrored =
  | { readonly outcomes: readonly Outcome[]; readonly deleted: readonly ModelRecord[]; readonly after: Model }
  | 'fails';

/** Mirrors the organisations of a file in a copy of a model: what the file lacks goes, then the file is imported. */
export function mirrorFile(model: Model, orgs: readonly Organisation[], options: Options, stated: Stated): Mirrored {
  const orgIds = new Set(orgs.map(({ orgId }) => orgId));
  const given = readFile(orgs, stated).flatMap(({ records }) => records);
  const places = new Set(given.map((record) => placeOf(withProjectGrant(model, record))));
  const isKey = ({ section }: ModelRecord) => recordSection(section).keys === true;
  const isMirrored = (record: ModelRecord) => orgIds.has(record.orgId) && (options.withKeys || !isKey(record));
  const doomed = new Map(
    [...model.records].filter(([place, one]) => one.section !== 'org' && isMirrored(one) && !places.has(place)),
  );
  const requires = (record: ModelRecord) => requiredKeys(record).map((key) => key.join(' '));
  const requiresDoomed = (record: ModelRecord) => requires(record).some((place) => doomed.has(place));
  const along = [...model.records].filter(
    ([, record]) => isKey(record) && !options.withKeys && orgIds.has(record.orgId) && requiresDoomed(record),
  );
  for (const [place, record] of along) doomed.set(place, record);
  const others = [...model.records].filter(([place, record]) => !doomed.has(place) && requiresDoomed(record));
  if (others.some(([, record]) => !isMirrored(record))) return 'fails';
  const isScope = ({ section, json }: ModelRecord) => section === 'domainPolicy' && json.userLoginMustBeDomain === true;
  if ([...doomed.values()].some(isScope)) return 'fails';
  const held = heldBy(others.map(([, record]) => record));
  const heldNames = new Set([...held].map((place) => nameAt(place)));
  const after = model.clone();
  for (const [place, { section, json }] of doomed) {
    if (recordSection(section).collection === 'users') after.deleteServiceUser(String(json.userId));
    after.records.delete(place);
  }
  const outcomes = importFile(after, orgs, options, stated);
  const takesHeld = outcomes.some(({ given: one, kind }) => {
    const name = one && nameOf(one, after);
    return (kind === 'created' || kind === 'overwritten') && name !== undefined && heldNames.has(name);
  });
  if (takesHeld || outcomes.some(({ kind, error }) => kind === 'failed' || error !== undefined)) return 'fails';
  return { outcomes, deleted: [...doomed.values()], after };

  function nameAt(place: string): string | undefined {
    const record = doomed.get(place);
    return record && nameOf(record, model);
  }

  /** The records to delete that others require until the file is imported, directly or not. */
  function heldBy(records: readonly ModelRecord[]): ReadonlySet<string> {
    const found = new Set<string>();
    const visit = (place: string) => {
      const record = doomed.get(place);
      if (record === undefined || found.has(place)) return;
      found.add(place);
      for (const required of requires(record)) visit(required);
    };
    for (const record of records) for (const place of requires(record)) visit(place);
    return found;
  }
}

/** The numbers of records by section. */
export function countBySection(records: readonly ModelRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { section } of records) counts[section] = (counts[section] ?? 0) + 1;
  return counts;
}
