import { exportedFormIssue } from '../../../shared/organisation/exportedForm.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import { recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { Reader } from '../../../shared/store/store.ts';
import { failed, type IncomingRecord } from '../incomingRecord.ts';

/** Completes the records whose sections determine a field by stored records. */
export async function completeRecords(reader: Reader, records: readonly IncomingRecord[]): Promise<void> {
  const completable = records.filter(({ plan }) => plan.record.section.completed !== undefined);
  for (const [{ completed }, ofSection] of Map.groupBy(completable, ({ plan }) => plan.record.section)) {
    if (completed === undefined) continue;
    const completions = await completed.complete(
      reader,
      ofSection.map(({ plan }) => plan.record),
    );
    for (const [index, incoming] of ofSection.entries()) {
      const completion = completions[index];
      if (completion === undefined) continue;
      const record = withChanges(incoming.plan.record, new Map([[completed.field, completion.value]]));
      incoming.plan = { ...incoming.plan, record, key: recordKey(record) };
      incoming.warnings.push(completion.warning);
      const issue = exportedFormIssue(record);
      if (issue !== undefined) incoming.outcome = failed(issue);
    }
  }
}
