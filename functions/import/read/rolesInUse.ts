import type { IssueParams } from '../../../shared/errors/issueText.ts';
import { parseObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { toRecord } from '../../../shared/organisation/record.ts';
import { type RecordPlan, reportedId } from '../../../shared/organisation/recordPlan.ts';
import { projectGrantSection, userGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { sectionPartition } from '../../../shared/organisation/sections/section.ts';
import { scanInPasses } from '../../../shared/store/passes.ts';
import { documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { ImportedStore } from '../context.ts';
import type { Mirror } from '../mirror/deletions.ts';
import type { DoomedRecord } from '../stages.ts';

const ROLES = 'projectGrant.roleKeys[]';

interface Use {
  readonly roles: Set<string>;
  readonly firstId: string;
  count: number;
}

type LostRoles = ReadonlyMap<RecordPlan, ReadonlySet<string>>;

interface RolesInUse {
  readonly rolesInUse: ReadonlyMap<RecordPlan, IssueParams>;
  /**
   * User grants that would prevent the overwrite of the project grants. So a mirroring import deletes them before it
   * writes the project grants, and creates them again if the file contains them.
   */
  readonly early: readonly DoomedRecord[];
}

/**
 * Finds the user grants that use roles which the overwrite of a project grant would remove.
 * @param documents the stored project grants with their bodies; the key is the grant's path
 */
export async function findRolesInUse(
  store: ImportedStore,
  plans: readonly RecordPlan[],
  documents: ReadonlyMap<string, StoredDocument>,
  mirror: Mirror | undefined,
): Promise<RolesInUse> {
  const { uses, early } = await findUses(store, findLostRoles(plans, documents), mirror);
  return { rolesInUse: new Map([...uses].map(([plan, use]) => [plan, describeUse(use)])), early };
}

function findLostRoles(plans: readonly RecordPlan[], documents: ReadonlyMap<string, StoredDocument>): LostRoles {
  const lost = new Map<RecordPlan, ReadonlySet<string>>();
  for (const plan of plans) {
    const { section, json, orgId } = plan.record;
    const stored = documents.get(documentPath(plan.key));
    if (section !== projectGrantSection || stored === undefined) continue;
    const before = new Set(textsAt(parseObject(stored.body), ROLES, orgId));
    const roles = before.difference(new Set(textsAt(json, ROLES, orgId)));
    if (roles.size > 0) lost.set(plan, roles);
  }
  return lost;
}

/** Reads the user grants of each organisation once. */
async function findUses(
  store: ImportedStore,
  lostRoles: LostRoles,
  mirror: Mirror | undefined,
): Promise<{ readonly uses: ReadonlyMap<RecordPlan, Use>; readonly early: readonly DoomedRecord[] }> {
  const early: DoomedRecord[] = [];
  const uses = new Map<RecordPlan, Use>();
  const byOrganisation = Map.groupBy(lostRoles, ([plan]) => grantField(plan, 'projectGrant.grantedOrgId'));
  for (const [orgId, grants] of byOrganisation) {
    const byId = Map.groupBy(grants, ([plan]) => grantField(plan, 'grantId'));
    const partition = sectionPartition(orgId, userGrantSection);
    const range = { collection: userGrantSection.collection, partition, fields: ['body'] } as const;
    for await (const documents of scanInPasses(store, range)) {
      for (const { body, id: documentId } of documents) {
        const key = { collection: userGrantSection.collection, id: documentId };
        const isDeletable = mirror?.isDeleting === true && mirror.deletions.knows(documentPath(key));
        const json = parseObject(body);
        const used = new Set(textsAt(json, 'roleKeys[]', orgId));
        for (const [plan, lost] of byId.get(textAt(json, 'projectGrantId', orgId)) ?? []) {
          const roles = used.intersection(lost);
          if (roles.size === 0) continue;
          if (isDeletable) early.push({ key, section: userGrantSection, orgId });
          else addUse(uses, plan, roles, () => reportedId(toRecord(userGrantSection, json, orgId)));
        }
      }
      await yieldToEventLoop();
    }
  }
  return { uses, early };
}

function grantField({ record }: RecordPlan, path: string): string {
  return textAt(record.json, path, record.orgId);
}

function addUse(uses: Map<RecordPlan, Use>, plan: RecordPlan, roles: Iterable<string>, id: () => string): void {
  const use = uses.get(plan) ?? { roles: new Set(), firstId: id(), count: 0 };
  for (const role of roles) use.roles.add(role);
  use.count++;
  uses.set(plan, use);
}

function describeUse({ roles, firstId, count }: Use): IssueParams {
  return { roles: [...roles].join(', '), count: String(count), grant: firstId };
}
