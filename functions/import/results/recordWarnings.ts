// Warnings about a record that the import did not reject.

import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { valueAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { ImportWarning } from '../contract.ts';
import type { RecordOutcome } from '../stages.ts';

const NO_WARNINGS: readonly ImportWarning[] = [];
const NONE_OF_RECORD: readonly RecordWarning[] = [];

/** Lists the warnings about a record with this outcome. */
export function collectWarnings(record: OrganisationRecord, outcome: RecordOutcome): readonly ImportWarning[] {
  const { section, unknown, adjustment, dropped, leftOut, converted } = record;
  if (outcome.kind === 'failed') return NO_WARNINGS;
  const ofRecord = section.warnings?.(record) ?? NONE_OF_RECORD;
  const { warnings: fromStore = [] } = outcome;
  const isPlain =
    unknown.values.length === 0 && adjustment === undefined && (dropped ?? leftOut ?? converted) === undefined;
  if (isPlain && fromStore.length === 0) return toWarnings(record, ofRecord);
  return toWarnings(record, [
    ...lostValues(record),
    ...droppedTexts(record),
    ...convertedTexts(record),
    ...leftOutElements(record),
    adjustment?.warning,
    ...ofRecord,
    ...fromStore,
  ]);
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

function lostValues({ unknown, json }: OrganisationRecord): RecordWarning[] {
  return unknown.values
    .filter(({ path, value }) => valueAt(json, path) !== value)
    .map(({ path, value }) => warn('value_unknown', { value: JSON.stringify(value), field: path }));
}

function droppedTexts({ dropped = [] }: OrganisationRecord): RecordWarning[] {
  return dropped.map(({ field, text, isRepeated }) =>
    warn(isRepeated ? 'value_repeated' : 'value_dropped', { value: JSON.stringify(text), field }),
  );
}

function convertedTexts({ converted = [] }: OrganisationRecord): RecordWarning[] {
  return converted.map(({ field, value, stored }) =>
    warn('value_converted', { field, value: JSON.stringify(value), stored: JSON.stringify(stored) }),
  );
}

function leftOutElements({ leftOut = [] }: OrganisationRecord): RecordWarning[] {
  return leftOut.map(({ field, problem }) => warn('element_invalid', { field, problem }));
}
