// An import into an empty instance, which finds what no instance imports.

import type { ImportError } from '../../functions/import/contract.ts';
import { importOrganisations } from '../../functions/import/operation.ts';
import { total } from '../../shared/collections/counts.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import { instanceKey, newInstanceBody } from '../../shared/store/instance.ts';
import { documentPath, type Reader, type Store } from '../../shared/store/store.ts';
import { type ProgressOutput, trackPhase } from '../terminal/progress.ts';
import type { ImportResponse } from './importResponse.ts';
import type { ExportFile, ImportSettled, PlaceExportOptions } from './placeInterfaces.ts';

/** What every import of a file reports, whatever the target has. */
export interface CertainIssues {
  readonly errors: readonly ImportError[];
  readonly errorsOmitted: number;
  readonly warnings: ImportResponse['summary']['warnings'];
  readonly warningsOmitted: number;
}

/** The issues of a file without any. */
export const noIssues: CertainIssues = { errors: [], errorsOmitted: 0, warnings: [], warningsOmitted: 0 };

/** The reasons that depend on the target's records, and those that the command reports in other words. */
const excluded = new Set<string | undefined>([
  'reference_missing',
  'organisation_unnamed',
  'role_dropped',
  'action_dropped',
  'field_unset',
  'provider_missing',
  'linked_provider_missing',
  'manifest_missing',
  'organisation_missing',
]);

/** The fastest hashing of clear passwords, because no hash is kept. */
const passwordHashing = { algorithm: 'bcrypt', cost: 4 } as const;

/**
 * Tries the import of a valid file into an empty instance with the default of the file's source for login names. Memory
 * does not grow with the file.
 */
export async function findCertainIssues(
  { open }: Pick<ExportFile, 'open'>,
  { manifest }: Pick<Inspection, 'manifest'>,
  { orgIds, excludedOrgIds }: PlaceExportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<CertainIssues> {
  let checked = (): Pick<ImportSettled, 'records' | 'total'> => ({ records: 0, total: 0 });
  const settings: Parameters<typeof importOrganisations>[2] = {
    dryRun: true,
    withKeys: true,
    ids: false,
    orgIds,
    excludedOrgIds,
    passwordHashing,
    onInspected: async ({ totals, progress }) => {
      checked = () => ({ records: total(totals()), total: total(progress().total) });
    },
  };
  const store = emptyStore(manifest?.userLoginMustBeDomain === true);
  const meter = {
    records: () => checked().records,
    fraction: () => (checked().total === 0 ? undefined : checked().records / checked().total),
  };
  const { errors = [], summary } = await trackPhase(output, 'checking', meter, () =>
    importOrganisations(store, { open }, settings, new Date().toISOString(), signal),
  );
  return {
    errors: errors.filter(({ reason }) => !excluded.has(reason)),
    errorsOmitted: summary.errorsOmitted ?? 0,
    warnings: summary.warnings.filter(({ reason }) => !excluded.has(reason)),
    warningsOmitted: summary.warningsOmitted ?? 0,
  };
}

/** Returns the store of an instance without records. */
function emptyStore(loginNamesByDomain: boolean): Store {
  const body = newInstanceBody({ name: 'empty', loginNamesByDomain });
  const isInstance = (path: string) => path === documentPath(instanceKey);
  const getMany: Reader['getMany'] = async (keys) =>
    keys.map((key) => (isInstance(documentPath(key)) ? { id: key.id, body } : undefined));
  const refuse = async () => {
    throw new Error('a trial writes nothing');
  };
  return {
    getMany,
    snapshot: async () => ({
      getMany,
      readTime: new Date(),
      async *scan() {},
      [Symbol.asyncDispose]: async () => {},
    }),
    commit: refuse,
    transaction: refuse,
    lock: { take: refuse },
    close: async () => {},
  };
}
