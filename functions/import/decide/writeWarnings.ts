// Warnings about the effects of written records: roles, verified domains, changed states.

import { warn } from '../../../shared/errors/warnings.ts';
import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { StoredDocument } from '../../../shared/store/store.ts';
import { givenTexts } from '../check/privileges.ts';
import type { ImportWarning } from '../contract.ts';
import type { Checked, Privilege } from '../stages.ts';
import { stateChange } from './overwrite.ts';

/**
 * Lists the warnings about a record that is written: the privilege that it gives, and its change of a state.
 * @param stored the record before it is overwritten; undefined for a new one
 */
export function writeWarnings({ plan, privilege }: Checked, stored?: StoredDocument): ImportWarning[] {
  const warnings: ImportWarning[] = [];
  const gift = privilege && privilegeWarning(privilege, plan.record, stored);
  if (gift !== undefined) warnings.push(gift);
  const change = stored === undefined ? undefined : stateChange(plan, stored);
  if (change !== undefined) {
    warnings.push({ type: 'state', id: reportedId(plan.record), ...warn('state_changed', change) });
  }
  return warnings;
}

function privilegeWarning(
  privilege: Privilege,
  record: OrganisationRecord,
  stored: StoredDocument | undefined,
): ImportWarning | undefined {
  if (!privilege.existed) return undefined;
  const { given } = privilege;
  const { json, orgId } = record;
  const added = addedTexts(privilege, orgId, stored);
  if (added.length === 0) return undefined;
  const target = `${given.noun} ${given.within.key.map((path) => textAt(json, path, orgId)).join(' ')}`;
  const warning =
    given.type === 'domain'
      ? warn('domain_added', { domain: added, target })
      : warn('privilege_added', { user: textAt(json, 'userId', orgId), roles: added, target });
  return { type: given.type, id: reportedId(record), ...warning };
}

/** Returns the roles or the domain that the record gives and the stored record does not. */
function addedTexts({ given, texts }: Privilege, orgId: string, stored: StoredDocument | undefined): readonly string[] {
  const before = new Set(stored === undefined ? [] : givenTexts(given, parseObject(stored.body), orgId));
  return texts.filter((text) => !before.has(text));
}
