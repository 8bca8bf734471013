import { importIntoEmpty } from '../../functions/emptyInstance.ts';
import type { ImportError } from '../../functions/import/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import { defined } from '../../shared/defined.ts';
import { warn } from '../../shared/errors/warnings.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import { type CallContext, trackPhase } from '../terminal/progress.ts';
import type { ImportResponse } from './importResponse.ts';
import type { DoneRecords, ExportFile, PlaceExportOptions } from './placeInterfaces.ts';
import { meterOfRecords } from './trackTransfer.ts';

export interface CertainIssues {
  readonly errors: readonly ImportError[];
  readonly errorsOmitted: number;
  readonly warnings: readonly Warning[];
  readonly warningsOmitted: number;
}

type Warning = ImportResponse['summary']['warnings'][number];

export const noIssues: CertainIssues = { errors: [], errorsOmitted: 0, warnings: [], warningsOmitted: 0 };

/**
 * Reasons of issues that `findCertainIssues` does not return. These issues depend on the target's records, or the
 * command reports them in its own words.
 */
const excluded = new Set<string | undefined>([
  'reference_missing',
  'organisation_unnamed',
  'field_unset',
  'provider_missing',
  'linked_provider_missing',
  'manifest_missing',
  'organisation_missing',
]);

/**
 * Finds the issues that every import of a valid file will have. To find them, imports the file into an empty instance
 * that stores nothing. By default, login names in this instance must be unique within the same scope as in the
 * exporting instance: an organisation or the whole instance. Memory does not grow with the file.
 */
export async function findCertainIssues(
  { open }: Pick<ExportFile, 'open'>,
  inspection: Inspection,
  { orgIds, excludedOrgIds }: PlaceExportOptions,
  { output, signal }: CallContext,
): Promise<CertainIssues> {
  let checked = (): DoneRecords => ({ records: 0, total: 0 });
  const settings: Parameters<typeof importIntoEmpty>[1] = {
    inspection,
    loginNamesByDomain: inspection.manifest?.userLoginMustBeDomain === true,
    orgIds,
    excludedOrgIds,
    onInspected: async ({ totals, progress }) => {
      checked = () => ({ records: total(totals()), total: total(progress().total) });
    },
  };
  const meter = meterOfRecords(() => checked());
  const { errors = [], summary } = await trackPhase(output, 'checking', meter, () =>
    importIntoEmpty({ open }, settings, signal),
  );
  return {
    errors: errors.filter(({ reason }) => !excluded.has(reason)),
    errorsOmitted: summary.errorsOmitted ?? 0,
    warnings: [
      ...summary.warnings.filter(({ reason }) => !excluded.has(reason)).map(partRequirement),
      ...errors.flatMap(requirement),
    ],
    warningsOmitted: summary.warningsOmitted ?? 0,
  };
}

/**
 * Converts a warning that an import has dropped a missing role or action. The returned warning states that the target
 * must have this role or action. Returns other warnings unchanged.
 */
function partRequirement(warning: Warning): Warning {
  const { reason, params: { role, action, field = '' } = {}, ...record } = warning;
  const value = reason === 'role_dropped' ? role : reason === 'action_dropped' ? action : undefined;
  return value === undefined ? warning : { ...record, ...warn('part_required', { value, field }) };
}

function requirement({ type, id, reason, params = {} }: ImportError): readonly Warning[] {
  const record = { type, ...defined({ id }) };
  if (reason === 'organisation_unnamed') return [{ ...record, ...warn('organisation_required', {}) }];
  if (reason !== 'reference_missing') return [];
  const { target = 'a record', field, id: targetId } = params;
  return [{ ...record, ...warn('reference_required', { target, field, id: targetId }) }];
}
