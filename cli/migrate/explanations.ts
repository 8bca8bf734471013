import { type FieldDifference, isOmission } from '../../shared/organisation/equality.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';
import { explainZitadels } from '../comparison/compareSides.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { comparedContent, type RecordContent } from '../records/comparedRecord.ts';
import type { ImportFacts } from '../records/importFacts.ts';
import type { Explain, RecordDifference } from '../records/runDatabase.ts';
import type { OpenSides } from './openSides.ts';
import type { MigrationSettings } from './settings.ts';

/**
 * @param imports facts about how ZITADEL imports the records of the source
 * @param response the import's response; undefined before the import, and if the target is a file
 */
export function explainDifferences(
  { source, target }: OpenSides,
  settings: Pick<MigrationSettings, 'onConflict' | 'mirror'>,
  imports: ImportFacts,
  response?: ImportResponse,
): Explain {
  const byZitadels = explainZitadels([source.facts, target.facts], imports);
  // The import gives new people the hashes of the export. So a hash can differ only for a person who existed before the
  // import.
  const hasExisting = response === undefined || (response.summary.unchanged[humanUserSection.name] ?? 0) > 0;
  const mayBeHashedAnew = target.kind === 'zitadel' && hasExisting;
  return (difference, first) =>
    explainBesideHash(difference, mayBeHashedAnew, (others) => byZitadels(others, first)) ??
    explain(difference, settings, response, first);
}

const { password } = personCredentials;

const HASHED_ANEW =
  'ZITADEL has another hash of the password: a login has hashed the password again, or the password was changed in ZITADEL; hashes do not show which of the two happened';

/**
 * Explains a differing password hash, and uses `explainOthers` for the other fields. A hash has its own reason, because
 * ZITADEL may replace a hash when a person logs in.
 * @param mayBeHashedAnew whether the person may have existed in ZITADEL before the import
 */
export function explainBesideHash(
  difference: RecordDifference,
  mayBeHashedAnew: boolean,
  explainOthers: (difference: RecordDifference) => string | undefined,
): string | undefined {
  const { section, fields = [] } = difference;
  const isHash = (field: FieldDifference) =>
    field.path === password.path && 'secret' in field && field.secret === 'different';
  const others = fields.filter((field) => !isHash(field));
  const isOther = !mayBeHashedAnew || section !== humanUserSection.name || others.length === fields.length;
  if (isOther) return explainOthers(difference);
  if (others.length === 0) return HASHED_ANEW;
  const reason = explainOthers({ ...difference, fields: others });
  return reason === undefined ? undefined : `${reason}; ${HASHED_ANEW}`;
}

/**
 * Returns why a difference is expected. Returns undefined for an unexpected difference.
 * @param response the import's response; undefined before the import, and if the target is a file
 * @param first the record in the source; undefined if the source does not have it
 */
export function explain(
  { outcome, section, fields = [] }: RecordDifference,
  { onConflict, mirror }: Pick<MigrationSettings, 'onConflict' | 'mirror'>,
  response: ImportResponse | undefined,
  first: RecordContent | undefined,
): string | undefined {
  if (outcome !== 'different' || first === undefined) return undefined;
  if (onConflict === 'skip' && mirror !== true && (response?.summary.skipped?.[section] ?? 0) > 0)
    return 'the record existed with other content, which --on-conflict skip keeps';
  const isHashed = (field: FieldDifference) =>
    field.path === password.clear && 'secret' in field && field.secret === 'onlyFirst';
  const others = fields.filter((field) => !isHashed(field));
  const exportedContent = comparedContent(first);
  if (!others.every((field) => isOmission(field, exportedContent, onConflict === 'overwrite'))) return undefined;
  if (others.length === fields.length)
    return 'unchanged: the record in the target has values that the export does not contain';
  return others.some(({ path }) => path === password.path) ? 'the target has hashed the clear password' : undefined;
}
