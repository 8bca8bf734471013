import { exportedFormIssue } from '../../../shared/organisation/exportedForm.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import { type RecordPlan, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { RecordWarning } from '../../../shared/organisation/warnings.ts';
import type { Reader } from '../../../shared/store/store.ts';

/**
 * Completes the records whose sections determine a field by stored records.
 * @param onWarning receives each completed record with its warning
 * @param onIssue receives each completed record that must not be written, with its issue
 * @returns all records in their order, each with the one to write
 */
export async function completeRecords(
  reader: Reader,
  plans: readonly RecordPlan[],
  onWarning: (plan: RecordPlan, warning: RecordWarning) => void,
  onIssue: (plan: RecordPlan, issue: RecordIssue) => void,
): Promise<ReadonlyMap<RecordPlan, RecordPlan>> {
  const complete = new Map(plans.map((plan) => [plan, plan]));
  const completable = plans.filter(({ record }) => record.section.completed !== undefined);
  for (const [{ completed }, ofSection] of Map.groupBy(completable, ({ record }) => record.section)) {
    if (completed === undefined) continue;
    const records = ofSection.map(({ record }) => record);
    const completions = await completed.complete(reader, records);
    for (const [index, plan] of ofSection.entries()) {
      const completion = completions[index];
      if (completion === undefined) continue;
      const record = withChanges(plan.record, new Map([[completed.field, completion.value]]));
      const changed = { ...plan, record, key: recordKey(record) };
      const issue = exportedFormIssue(record);
      if (issue === undefined) onWarning(changed, completion.warning);
      else onIssue(changed, issue);
      complete.set(plan, changed);
    }
  }
  return complete;
}
