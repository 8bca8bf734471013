// Grants with roles that their projects or project grants lack.

import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { parseObject, textsAt } from '../../../shared/json/jsonObject.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import type { PlannedReference } from '../../../shared/organisation/recordPlan.ts';
import { ROLES, rolesFields } from '../../../shared/organisation/sections/grants.ts';
import { type Collection, documentPath } from '../../../shared/store/store.ts';
import type { Found, Referring } from './references.ts';

/**
 * Removes the missing roles of a grant, with a warning, if other roles remain: a grant with fewer roles gives no more than
 * the source gave.
 * @param found the targets of its references
 */
export function withoutMissingRoles(referring: Referring, found: Found): Referring {
  const { plan, warnings, references } = referring;
  const field = rolesFields.get(plan.record.section);
  if (field === undefined) return referring;
  const granted = grantedRoles(referring, found);
  const roles = referencesTo(ROLES, references);
  const isMissing = ({ key, targetId }: PlannedReference) =>
    found.get(documentPath(key)) === undefined || granted?.has(targetId) === false;
  const missing = new Set(roles.filter(isMissing));
  if (missing.size === 0 || missing.size === roles.length) return referring;
  const kept = roles.filter((role) => !missing.has(role)).map(({ targetId }) => targetId);
  return {
    plan: { ...plan, record: withChanges(plan.record, new Map([[field, kept]])) },
    warnings: [...warnings, ...[...missing].map(({ targetId }) => dropped(targetId, field))],
    references: references.filter((reference) => !missing.has(reference)),
  };
}

function dropped(role: string, field: string): RecordWarning {
  return warn('role_dropped', { role: JSON.stringify(role), field });
}

function referencesTo(collection: Collection, references: readonly PlannedReference[]): readonly PlannedReference[] {
  return references.filter(({ reference }) => reference.collection === collection);
}

/** Returns the roles of the project grant that a record uses; undefined if it uses none. */
function grantedRoles({ plan, references }: Referring, found: Found): ReadonlySet<string> | undefined {
  const [reference] = referencesTo('projectGrants', references);
  const grant = reference && found.get(documentPath(reference.key));
  return grant && new Set(textsAt(parseObject(grant.body), 'projectGrant.roleKeys[]', plan.record.orgId));
}
