import { type RecordWarning, warn } from '../errors/warnings.ts';
import { valueAt } from '../json/jsonObject.ts';
import type { OrganisationRecord } from './record.ts';

const NO_WARNINGS: readonly RecordWarning[] = [];

export function valueWarnings(record: OrganisationRecord): readonly RecordWarning[] {
  const { section, unknown, dropped, leftOut, converted } = record;
  const ofSection = section.valueWarning?.(record);
  const isPlain = unknown.values.length === 0 && (dropped ?? leftOut ?? converted ?? ofSection) === undefined;
  if (isPlain) return NO_WARNINGS;
  return [
    ...lostValues(record),
    ...droppedTexts(record),
    ...convertedTexts(record),
    ...leftOutElements(record),
    ...(ofSection === undefined ? [] : [ofSection]),
  ];
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
