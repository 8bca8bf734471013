// Project grants that lose roles which user grants use.

import { because } from '../../../shared/errors/recordIssues.ts';
import { parseObject, putAt, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { toRecord } from '../../../shared/organisation/record.ts';
import { serialise } from '../../../shared/organisation/recordBody.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { sectionPartition } from '../../../shared/organisation/section.ts';
import { projectGrantSection, rolesInUse, userGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { scanInPasses } from '../../../shared/store/passes.ts';
import { documentPath, type StoredDocument, type Write } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { Writing } from '../importRun.ts';
import type { IncomingRecord } from '../incomingRecord.ts';
import { isSameRecord } from './comparison.ts';

const ROLES = 'projectGrant.roleKeys[]';

/** A project grant, and the roles that no user grant through it may use. */
interface CheckedGrant {
  readonly incoming: IncomingRecord;
  readonly lost: Pick<ReadonlySet<string>, 'has'>;
}

/** A project grant with fewer roles than the stored one. */
export interface NarrowedGrant extends CheckedGrant {
  readonly stored: StoredDocument;
  /** The roles that only the stored one has. */
  readonly lost: ReadonlySet<string>;
}

/** The user grants with roles that a project grant would lose. */
interface Use {
  readonly roles: Set<string>;
  readonly firstId: string;
  count: number;
}

/**
 * Finds the project grants of a batch that have fewer roles than the stored ones.
 * @param documents the stored records with their bodies, by `documentPath`
 */
export function findNarrowed(
  records: readonly IncomingRecord[],
  documents: ReadonlyMap<string, StoredDocument>,
): NarrowedGrant[] {
  return records.flatMap((incoming): NarrowedGrant[] => {
    const { plan } = incoming;
    const { section, json, orgId } = plan.record;
    const stored = documents.get(documentPath(plan.key));
    if (section !== projectGrantSection || stored === undefined || !isSameRecord(plan, stored)) return [];
    const kept = new Set(textsAt(json, ROLES, orgId));
    const lost = textsAt(parseObject(stored.body), ROLES, orgId).filter((role) => !kept.has(role));
    return lost.length === 0 ? [] : [{ incoming, stored, lost: new Set(lost) }];
  });
}

/**
 * Finds the project grants that would lose roles which user grants use.
 * @returns the records, each with its issue
 */
export async function findRolesInUse(
  store: Writing['base'],
  grants: readonly NarrowedGrant[],
): Promise<Map<IncomingRecord, RecordIssue>> {
  const uses = await findUses(store, grants);
  return new Map([...uses].map(([incoming, use]) => [incoming, issueOf(use, 'roles_in_use')]));
}

/**
 * Finds the unchanged project grants that lack roles which user grants use. An import that ended after it had overwritten
 * a project grant, and before it could restore it, leaves one: its repetition must not report success. The user grants
 * are read only if a project grant has been overwritten before.
 * @returns the records, each with its issue
 */
export async function findLackedRoles(
  { base, store, onConflict }: Writing,
  unchanged: readonly IncomingRecord[],
): Promise<Map<IncomingRecord, RecordIssue>> {
  const candidates = unchanged.filter(({ plan }) => plan.record.section === projectGrantSection);
  if (onConflict !== 'overwrite' || candidates.length === 0) return new Map();
  const keys = candidates.map(({ plan }) => plan.key);
  const stored = await store.getMany(keys, ['createdAt', 'changedAt']);
  const overwritten = candidates.filter((_, index) => stored[index]?.changedAt !== stored[index]?.createdAt);
  const uses = await findUses(base, overwritten.map(withoutOtherRoles));
  return new Map([...uses].map(([incoming, use]) => [incoming, issueOf(use, 'roles_lacking')]));
}

/** Returns a project grant to check for the use of any role that it does not have. */
function withoutOtherRoles(incoming: IncomingRecord): CheckedGrant {
  const { json, orgId } = incoming.plan.record;
  const roles = new Set(textsAt(json, ROLES, orgId));
  return { incoming, lost: { has: (role) => !roles.has(role) } };
}

/** Finds the user grants with roles that project grants lose. Reads each organisation's user grants once, in passes. */
async function findUses(
  store: Writing['base'],
  grants: readonly CheckedGrant[],
): Promise<ReadonlyMap<IncomingRecord, Use>> {
  const uses = new Map<IncomingRecord, Use>();
  const byOrganisation = Map.groupBy(grants, ({ incoming }) => grantField(incoming, 'projectGrant.grantedOrgId'));
  for (const [orgId, ofOrganisation] of byOrganisation) {
    const byId = Map.groupBy(ofOrganisation, ({ incoming }) => grantField(incoming, 'grantId'));
    const partition = sectionPartition(orgId, userGrantSection);
    const range = { collection: userGrantSection.collection, partition, fields: ['body'] } as const;
    for await (const documents of scanInPasses(store, range)) {
      for (const { body } of documents) {
        const json = parseObject(body);
        const used = textsAt(json, 'roleKeys[]', orgId);
        for (const { incoming, lost } of byId.get(textAt(json, 'projectGrantId', orgId)) ?? []) {
          const roles = used.filter((role) => lost.has(role));
          if (roles.length > 0)
            addUse(uses, incoming, roles, () => reportedId(toRecord(userGrantSection, json, orgId)));
        }
      }
      await yieldToEventLoop();
    }
  }
  return uses;
}

/**
 * Restores overwritten project grants that lack roles which other imports have given to user grants since the check. No
 * further user grant can get these roles: it is committed under the version of its project grant. The roles may be those
 * of an earlier content, because another import could not restore a project grant that this one has overwritten.
 * @param stamp the change date of the overwritten records
 * @returns the restored records, each with its issue
 */
export async function restoreGrantsInUse(
  { base, store }: Writing,
  grants: readonly NarrowedGrant[],
  stamp: string,
): Promise<Map<IncomingRecord, RecordIssue>> {
  const uses = await findUses(
    base,
    grants.map(({ incoming }) => withoutOtherRoles(incoming)),
  );
  const used = grants.flatMap((grant) => {
    const use = uses.get(grant.incoming);
    return use === undefined ? [] : [{ ...grant, use }];
  });
  if (used.length === 0) return new Map();
  return store.transaction(async (transaction) => {
    const current = await transaction.getMany(
      used.map(({ incoming }) => incoming.plan.key),
      ['changedAt'],
    );
    const changedAt = (date: (grant: NarrowedGrant) => string | undefined) =>
      used.filter((grant, index) => current[index] !== undefined && current[index].changedAt === date(grant));
    // Other imports may have overwritten some of them meanwhile.
    const own = changedAt(() => stamp);
    transaction.write(own.map(restoringWrite));
    // If the commit's response was lost, they are already restored.
    const restored = [...own, ...changedAt(({ stored }) => stored.changedAt)];
    return new Map(restored.map(({ incoming, use }) => [incoming, issueOf(use, 'roles_in_use')]));
  });
}

function restoringWrite({ incoming, stored, use }: NarrowedGrant & { readonly use: Use }): Write {
  const { id: _, ...fields } = stored;
  const { key, record } = incoming.plan;
  const json = parseObject(stored.body);
  const roles = new Set([...textsAt(json, ROLES, record.orgId), ...use.roles]);
  putAt(json, 'projectGrant.roleKeys', [...roles]);
  return { type: 'update', key, fields: { ...fields, ...serialise(json), state: fields.state ?? null } };
}

function grantField({ plan }: IncomingRecord, path: string): string {
  const { json, orgId } = plan.record;
  return textAt(json, path, orgId);
}

function addUse(
  uses: Map<IncomingRecord, Use>,
  incoming: IncomingRecord,
  roles: readonly string[],
  id: () => string,
): void {
  const use = uses.get(incoming) ?? { roles: new Set(), firstId: id(), count: 0 };
  for (const role of roles) use.roles.add(role);
  use.count++;
  uses.set(incoming, use);
}

/** Returns the issue of a project grant that would lose roles in use, or lacks them. */
function issueOf({ roles, firstId, count }: Use, reason: 'roles_in_use' | 'roles_lacking'): RecordIssue {
  return { ...rolesInUse, ...because(reason, { roles: [...roles], count, grant: firstId }) };
}
