import { recordSection } from '../../shared/organisation/allSections.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, nameOf, placeOf, requiredKeys } from './kinds.ts';
import type { Model } from './model.ts';
import { readFile, type Stated } from './modelFile.ts';
import { importFile, type Options, type Outcome, withProjectGrant } from './modelImport.ts';

/** What a mirroring import does: it deletes some records and imports the file, or it fails and deletes nothing. */
export type Mirrored =
  | { readonly outcomes: readonly Outcome[]; readonly deleted: Readonly<Record<string, number>>; readonly after: Model }
  | 'fails';

/** Mirrors the organisations of a file in a copy of a model: deletes what the file lacks, then imports the file. */
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
  const requiring = (place: string) => [...model.records].filter(([, record]) => requires(record).includes(place));
  const isDoomedOrMirrored = ([place, record]: readonly [string, ModelRecord]) =>
    doomed.has(place) || isMirrored(record);
  const heldNames = new Set([...doomed].flatMap(([place, record]) => (isHeld(place) ? nameOf(record, model) : [])));
  const after = model.clone();
  for (const [place, { section, json }] of doomed) {
    if (isUser(section)) after.deleteUser(String(json.userId));
    after.records.delete(place);
  }
  const outcomes = importFile(after, orgs, { ...options, mirrored: places }, stated);
  const takesHeld = outcomes.some(({ given: one, kind }) => {
    const name = one && nameOf(one, after);
    return (kind === 'created' || kind === 'overwritten') && name !== undefined && heldNames.has(name);
  });
  if (takesHeld || outcomes.some(({ kind, error }) => kind === 'failed' || error !== undefined)) return 'fails';
  const users = new Set([...doomed.values()].map(({ section, json }) => isUser(section) && json.userId));
  const counts = {
    ...countBySection([...doomed.values()]),
    tokens: [...model.tokens.values()].filter(({ userId }) => users.has(userId)).length,
    instanceMembers: [...model.instanceRoles.keys()].filter((userId) => users.has(userId)).length,
  };
  const deleted = Object.fromEntries(Object.entries(counts).filter(([, records]) => records > 0));
  return { outcomes, deleted, after };

  /** Whether a record to delete is kept, because a record outside of the file requires it directly or indirectly. */
  function isHeld(place: string): boolean {
    return requiring(place).some((one) => !isDoomedOrMirrored(one) || isHeld(one[0]));
  }
}

function isUser(section: string): boolean {
  return recordSection(section).collection === 'users';
}

/** The numbers of records by section. */
function countBySection(records: readonly ModelRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { section } of records) counts[section] = (counts[section] ?? 0) + 1;
  return counts;
}
