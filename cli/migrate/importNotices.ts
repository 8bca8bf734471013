// The errors, warnings and manual steps of an import, or of its dry run.

import type { WarningReason } from '../../shared/errors/warnings.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import type { OpenSide } from './openSides.ts';

/** The types of warnings that are not about a record. */
const generalTypes: ReadonlySet<string> = new Set(['manifest', 'secrets', 'state']);

/** Reasons of warnings about records that remain warnings even if the target is ZITADEL. */
const keptReasons: ReadonlySet<string> = new Set([
  'privilege_added',
  'domain_added',
  'record_recreated',
] satisfies WarningReason[]);

/**
 * Sorts the notices of an import or its dry run. If the target is ZITADEL, warnings become manual steps, except
 * warnings about the file, secrets, privileges and deleted records. For other targets, omits warnings about unverified
 * hashes, because this service verifies these hashes.
 * @param leftToDo the manual steps that follow from the export
 */
export function sortNotices(
  response: ImportResponse | undefined,
  [source, { kind }]: readonly [source: Pick<OpenSide, 'kind'>, target: Pick<OpenSide, 'kind'>],
  leftToDo: readonly CountedEntry[],
) {
  const { errors = [], summary } = response ?? {};
  const { warningsOmitted = 0, errorsOmitted = 0 } = summary ?? {};
  // Omits two warnings. The migration compares secrets itself, so the warning `not_compared` does not apply. Exports of
  // ZITADEL never have a manifest.
  const isKept = ({ type }: CountedEntry) =>
    type !== 'not_compared' && (type !== 'manifest' || source.kind !== 'zitadel');
  const warnings = (summary?.warnings ?? []).filter(isKept);
  const kept = { errors, errorsOmitted, warningsOmitted, leftToDo: [...leftToDo], leftToDoOmitted: 0 };
  if (kind !== 'zitadel') return { ...kept, warnings: warnings.filter(({ reason }) => reason !== 'hash_unverified') };
  const general = warnings.filter(({ type, reason = '' }) => generalTypes.has(type) || keptReasons.has(reason));
  const others = warnings.filter((warning) => !general.includes(warning));
  return { ...kept, warnings: general, warningsOmitted: 0, leftToDo: others, leftToDoOmitted: warningsOmitted };
}
