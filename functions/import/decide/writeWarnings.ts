import { warn } from '../../../shared/errors/warnings.ts';
import { parseObject } from '../../../shared/json/jsonObject.ts';
import { privilegeWarning } from '../../../shared/organisation/privileges.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { StoredDocument } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { Checked } from '../stages.ts';
import { stateChange } from './overwrite.ts';

/** @param stored the record before the overwrite; undefined for a new record */
export function writeWarnings({ plan, privilege }: Checked, stored?: StoredDocument): ImportWarning[] {
  const warnings: ImportWarning[] = [];
  const gift =
    privilege?.existed === true
      ? privilegeWarning(privilege, plan.record, stored && parseObject(stored.body))
      : undefined;
  if (gift !== undefined) warnings.push(gift);
  const change = stored === undefined ? undefined : stateChange(plan, stored);
  if (change !== undefined) {
    warnings.push({ type: 'state', id: reportedId(plan.record), ...warn('state_changed', change) });
  }
  return warnings;
}
