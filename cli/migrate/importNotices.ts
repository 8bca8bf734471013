import type { WarningReason } from '../../shared/errors/warnings.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import type { OpenSide } from './openSides.ts';

/** The types of warnings that concern the whole import, not a record. */
const generalTypes: ReadonlySet<string> = new Set(['manifest', 'secrets', 'state']);

/**
 * If the target is ZITADEL, warnings about records become manual steps. Only warnings with these reasons remain
 * warnings.
 */
const keptReasons: ReadonlySet<string> = new Set([
  'privilege_added',
  'domain_added',
  'record_recreated',
] satisfies WarningReason[]);

/**
 * Sorts the errors, warnings and manual steps of an import or of a dry run. If the target is ZITADEL, warnings about
 * records become manual steps, except warnings with a reason in `keptReasons`. For other targets, leaves out warnings
 * about unverified hashes, because this service verifies these hashes.
 * @param leftToDo the manual steps that follow from the export
 */
export function sortNotices(
  response: ImportResponse | undefined,
  { kind }: Pick<OpenSide, 'kind'>,
  leftToDo: readonly CountedEntry[],
) {
  const { errors = [], summary } = response ?? {};
  const { warningsOmitted = 0, errorsOmitted = 0 } = summary ?? {};
  // Leaves out warnings that the import does not compare secrets, because the migration compares them in another step.
  const warnings = (summary?.warnings ?? []).filter(({ type }) => type !== 'not_compared');
  const kept = { errors, errorsOmitted, warningsOmitted, leftToDo: [...leftToDo], leftToDoOmitted: 0 };
  if (kind !== 'zitadel') return { ...kept, warnings: warnings.filter(({ reason }) => reason !== 'hash_unverified') };
  const general = warnings.filter(({ type, reason = '' }) => generalTypes.has(type) || keptReasons.has(reason));
  const others = warnings.filter((warning) => !general.includes(warning));
  return { ...kept, warnings: general, warningsOmitted: 0, leftToDo: others, leftToDoOmitted: warningsOmitted };
}
