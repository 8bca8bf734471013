import type { RecordWarning } from '../../../shared/errors/warnings.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { valueWarnings } from '../../../shared/organisation/valueWarnings.ts';
import type { ImportWarning } from '../contract.ts';
import type { RecordOutcome } from '../stages.ts';

const NO_WARNINGS: readonly ImportWarning[] = [];
const NONE_OF_RECORD: readonly RecordWarning[] = [];

export function collectWarnings(record: OrganisationRecord, outcome: RecordOutcome): readonly ImportWarning[] {
  if (outcome.kind === 'failed') return NO_WARNINGS;
  const ofRecord = record.section.warnings?.(record) ?? NONE_OF_RECORD;
  const ofValues = valueWarnings(record);
  const { adjustment } = record;
  const { warnings: fromStore = [] } = outcome;
  if (ofValues.length === 0 && adjustment === undefined && fromStore.length === 0) return toWarnings(record, ofRecord);
  return toWarnings(record, [...ofValues, adjustment?.warning, ...ofRecord, ...fromStore]);
}

function toWarnings(
  record: OrganisationRecord,
  warnings: readonly (RecordWarning | undefined)[],
): readonly ImportWarning[] {
  if (warnings.length === 0) return NO_WARNINGS;
  return warnings
    .filter((warning) => warning !== undefined)
    .map((warning) => ({ type: record.section.error.type, id: reportedId(record), ...warning }));
}
