import { counted, named, numberText } from '../numberTexts.ts';
import type { MigrationPlan } from './migrationDocuments.ts';

type Organisation = MigrationPlan['organisations'][number];

/**
 * Lists the changes of the source since a plan was shown, by organisation.
 * @returns no lines if all records are equal
 */
export function sourceChanges(shown: MigrationPlan, planned: MigrationPlan): string[] {
  if (shown.source.digest === planned.source.digest) return [];
  const before = new Map(shown.organisations.map((one) => [one.orgId, one]));
  const after = new Map(planned.organisations.map((one) => [one.orgId, one]));
  const lines = [...new Map([...before, ...after]).keys()].flatMap((orgId) =>
    organisationChange(before.get(orgId), after.get(orgId)),
  );
  return lines.length === 0 ? [OF_OTHERS] : lines;
}

const OF_OTHERS = 'records of organisations that the plan only counts';

function organisationChange(before: Organisation | undefined, after: Organisation | undefined): string[] {
  if (before === undefined)
    return after === undefined ? [] : [`${nameOf(after)}: new, ${counted(after.records, 'record')}`];
  if (after === undefined) return [`${nameOf(before)}: no longer among the organisations to move`];
  if (before.digest === after.digest) return [];
  const isSameCount = before.records === after.records;
  const change = isSameCount
    ? 'other content'
    : `${counted(after.records, 'record')} instead of ${numberText(before.records)}`;
  return [`${nameOf(after)}: ${change}`];
}

function nameOf({ orgId, name }: Organisation): string {
  return named(orgId, name);
}
