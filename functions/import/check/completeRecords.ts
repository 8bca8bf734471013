import type { RecordWarning } from '../../../shared/errors/warnings.ts';
import { exportedFormIssue } from '../../../shared/organisation/exportedForm.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import { recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { Completion } from '../../../shared/organisation/sections/section.ts';
import type { Reader } from '../../../shared/store/store.ts';
import { failed, type Planned, type Settled } from '../stages.ts';

export interface Completed {
  readonly plan: Planned;
  readonly warnings: readonly RecordWarning[];
}

const NO_WARNINGS: readonly RecordWarning[] = [];

/**
 * Completes the records of some sections: adds a field that the file lacks and the import takes from stored records, or
 * removes this field if the stored records show that the record does not need it.
 */
export async function completeRecords(
  reader: Reader,
  plans: readonly Planned[],
): Promise<readonly (Completed | Settled)[]> {
  const completions = new Map<Planned, Completion | undefined>();
  const completable = plans.filter(({ record }) => record.section.completed !== undefined);
  for (const [{ completed }, ofSection] of Map.groupBy(completable, ({ record }) => record.section)) {
    const records = ofSection.map(({ record }) => record);
    const sectionCompletions = await completed?.complete(reader, records);
    for (const [index, plan] of ofSection.entries()) completions.set(plan, sectionCompletions?.[index]);
  }
  return plans.map((plan) => complete(plan, completions.get(plan)));
}

function complete(plan: Planned, completion: Completion | undefined): Completed | Settled {
  const { completed } = plan.record.section;
  if (completed === undefined || completion === undefined) return { plan, warnings: NO_WARNINGS };
  const record = withChanges(plan.record, new Map([[completed.field, completion.value]]));
  const changed = { ...plan, record, key: recordKey(record) };
  const issue = exportedFormIssue(record, [completed.field]);
  return issue === undefined
    ? { plan: changed, warnings: [completion.warning] }
    : { plan: changed, outcome: failed(issue) };
}
