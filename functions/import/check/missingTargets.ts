import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { parseObject, textsAt } from '../../../shared/json/jsonObject.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import type { PlannedReference } from '../../../shared/organisation/recordPlan.ts';
import { partialReferences } from '../../../shared/organisation/sections/partialReferences.ts';
import { type Collection, documentPath } from '../../../shared/store/store.ts';
import type { Found, Referring } from './missingReferences.ts';

/**
 * Removes the missing roles of a grant, or the missing actions of a trigger, and adds a warning for each. Leaves a
 * record unchanged if no role or action would remain. Removing roles is safe: a grant with fewer roles gives fewer
 * rights than in the source.
 */
export function withoutMissingTargets(referring: Referring, documents: Found): Referring {
  const { plan, warnings, references } = referring;
  const partial = partialReferences.get(plan.record.section);
  if (partial === undefined) return referring;
  const { field, collection, reason } = partial;
  const granted = grantedRoles(referring, documents);
  const targets = referencesTo(collection, references);
  const isMissing = ({ reference, key, targetId }: PlannedReference) => {
    const target = documents.get(documentPath(key));
    const isForeign = reference.ifForeign !== undefined && target?.orgId !== plan.record.orgId;
    return target === undefined || isForeign || granted?.has(targetId) === false;
  };
  const missing = new Set(targets.filter(isMissing));
  if (missing.size === 0 || missing.size === targets.length) return referring;
  const kept = targets.filter((target) => !missing.has(target)).map(({ targetId }) => targetId);
  return {
    plan: { ...plan, record: withChanges(plan.record, new Map([[field, kept]])) },
    warnings: [...warnings, ...Array.from(missing, ({ targetId }) => dropped(reason, targetId, field))],
    references: references.filter((reference) => !missing.has(reference)),
  };
}

function dropped(reason: 'role_dropped' | 'action_dropped', id: string, field: string): RecordWarning {
  const value = JSON.stringify(id);
  return reason === 'role_dropped' ? warn(reason, { role: value, field }) : warn(reason, { action: value, field });
}

function referencesTo(collection: Collection, references: readonly PlannedReference[]): readonly PlannedReference[] {
  return references.filter(({ reference }) => reference.collection === collection);
}

/** Returns the roles of the project grant that a record uses; undefined if the record uses no project grant. */
function grantedRoles({ plan, references }: Referring, documents: Found): ReadonlySet<string> | undefined {
  const [reference] = referencesTo('projectGrants', references);
  const grant = reference && documents.get(documentPath(reference.key));
  return grant && new Set(textsAt(parseObject(grant.body), 'projectGrant.roleKeys[]', plan.record.orgId));
}
