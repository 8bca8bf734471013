import type { ImportResponse } from '../../functions/import/contract.ts';
import type { MigrationResult } from './result.ts';
import type { Side } from './run.ts';

/** What is said of an organisation that was named, and that the source does not have. */
export const NOT_FOUND = '--org names it, and the source does not have it';

type Notice = MigrationResult['errors'][number];

/** What a target says of an import or a trial of it, and what remains to be done by hand. */
type Notices = Pick<
  MigrationResult,
  'errors' | 'errorsOmitted' | 'warnings' | 'warningsOmitted' | 'leftToDo' | 'leftToDoOmitted'
>;

/** Bounds each list of a plan or a result. */
const MAX_LISTED = 1_000;

/**
 * Sorts what a target says. The warnings of a ZITADEL's import are what remains to be done there, but for that of the
 * whole file.
 * @param leftToDo what the export leaves to do in an instance of this service
 */
export function sortNotices(
  response: ImportResponse | undefined,
  { kind }: Side,
  leftToDo: readonly Notice[],
): Notices {
  const { errors = [], summary } = response ?? {};
  const { warnings = [], warningsOmitted = 0, errorsOmitted = 0 } = summary ?? {};
  const isOfFile = ({ type }: Notice) => type === 'manifest';
  const isZitadel = kind === 'zitadel';
  const [said, remaining] = isZitadel
    ? [warnings.filter(isOfFile), warnings.filter((warning) => !isOfFile(warning))]
    : [warnings, leftToDo];
  return {
    errors: errors.slice(0, MAX_LISTED),
    errorsOmitted: surplus(errors) + errorsOmitted,
    warnings: said.slice(0, MAX_LISTED),
    warningsOmitted: surplus(said) + (isZitadel ? 0 : warningsOmitted),
    leftToDo: remaining.slice(0, MAX_LISTED),
    leftToDoOmitted: surplus(remaining) + (isZitadel ? warningsOmitted : 0),
  };
}

function surplus({ length }: readonly Notice[]): number {
  return Math.max(0, length - MAX_LISTED);
}
