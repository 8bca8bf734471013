// Project grants that lose roles which user grants use.

import { because } from '../../../shared/errors/recordIssues.ts';
import { parseObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { toRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { sectionPartition } from '../../../shared/organisation/section.ts';
import { projectGrantSection, rolesInUse, userGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { scanInPasses } from '../../../shared/store/passes.ts';
import { documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { Writing } from '../importRun.ts';
import type { IncomingRecord } from '../incomingRecord.ts';
import { isSameRecord } from './comparison.ts';

const ROLES = 'projectGrant.roleKeys[]';

/** A project grant with fewer roles than the stored one. */
interface NarrowedGrant {
  readonly incoming: IncomingRecord;
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
    return lost.length === 0 ? [] : [{ incoming, lost: new Set(lost) }];
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
  return new Map([...uses].map(([incoming, use]) => [incoming, issueOf(use)]));
}

/** Finds the user grants with roles that project grants lose. Reads each organisation's user grants once, in passes. */
async function findUses(
  store: Writing['base'],
  grants: readonly NarrowedGrant[],
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

/** Returns the issue of a project grant that would lose roles in use. */
function issueOf({ roles, firstId, count }: Use): RecordIssue {
  return { ...rolesInUse, ...because('roles_in_use', { roles: [...roles], count, grant: firstId }) };
}
