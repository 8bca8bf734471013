// Grants with roles that their projects or project grants lack.

import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { parseObject, textsAt } from '../../../shared/json/jsonObject.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type PlannedReference, planReferences } from '../../../shared/organisation/recordPlan.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import {
  projectGrantMissingRole,
  projectGrantSection,
  userGrantMissingRole,
  userGrantSection,
} from '../../../shared/organisation/sections/grants.ts';
import {
  type Collection,
  type DocumentStore,
  documentPath,
  readByPath,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import type { IncomingRecord } from '../incomingRecord.ts';

/** A kind of grant: where its roles are, and the id of its issue for a missing role. */
interface GrantKind {
  readonly section: Section;
  readonly roles: string;
  readonly issueId: string;
}

const grantKinds: readonly GrantKind[] = [
  { section: projectGrantSection, roles: 'projectGrant.roleKeys', issueId: projectGrantMissingRole },
  { section: userGrantSection, roles: 'roleKeys', issueId: userGrantMissingRole },
];

type Found = ReadonlyMap<string, StoredDocument | undefined>;

/**
 * Removes the missing roles of grants that have failed because of them, with a warning, where other roles remain: a grant
 * with fewer roles gives no more than the source gave.
 * @returns the changed records, which are undecided again
 */
export async function dropMissingRoles(
  store: DocumentStore,
  records: readonly IncomingRecord[],
): Promise<IncomingRecord[]> {
  const lacking = records.flatMap((incoming) => {
    const { plan, outcome } = incoming;
    const kind = grantKinds.find(({ section }) => section === plan.record.section);
    const isLacking = outcome?.kind === 'failed' && outcome.issue.id === kind?.issueId;
    return kind !== undefined && isLacking ? [{ incoming, kind }] : [];
  });
  if (lacking.length === 0) return [];
  const keys = lacking.flatMap(({ incoming: { plan } }) =>
    [...referencesTo('projectRoles', plan.record), ...referencesTo('projectGrants', plan.record)].map(({ key }) => key),
  );
  const found = await readByPath(store, keys, ['body']);
  return lacking.filter(({ incoming, kind }) => narrow(incoming, kind, found)).map(({ incoming }) => incoming);
}

/** Removes the missing roles of a record; returns whether it had others too. */
function narrow(incoming: IncomingRecord, kind: GrantKind, found: Found): boolean {
  const { record } = incoming.plan;
  const granted = grantedRoles(record, found);
  const isKept = ({ key, targetId }: PlannedReference) =>
    found.get(documentPath(key)) !== undefined && (granted === undefined || granted.has(targetId));
  const roles = referencesTo('projectRoles', record);
  const kept = roles.filter(isKept).map(({ targetId }) => targetId);
  if (kept.length === 0 || kept.length === roles.length) return false;
  incoming.plan = { ...incoming.plan, record: withChanges(record, new Map([[kind.roles, kept]])) };
  const missing = roles.filter((role) => !isKept(role));
  incoming.warnings.push(...missing.map(({ targetId }) => dropped(targetId, kind)));
  incoming.outcome = undefined;
  return true;
}

function dropped(role: string, { roles }: GrantKind): RecordWarning {
  return warn('role_dropped', { role: JSON.stringify(role), field: roles });
}

function referencesTo(collection: Collection, record: OrganisationRecord): readonly PlannedReference[] {
  return planReferences(record).filter(({ reference }) => reference.collection === collection);
}

/** Returns the roles of the project grant that a record uses; undefined if it uses none. */
function grantedRoles(record: OrganisationRecord, found: Found): ReadonlySet<string> | undefined {
  const [reference] = referencesTo('projectGrants', record);
  const grant = reference && found.get(documentPath(reference.key));
  return grant && new Set(textsAt(parseObject(grant.body), 'projectGrant.roleKeys[]', record.orgId));
}
