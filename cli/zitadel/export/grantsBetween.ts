import { z } from 'zod';
import { isJsonObject, type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { search, type ZitadelConnection } from '../connection.ts';

// ZITADEL exports grants and members only where everything that they name is in the same export. An export of one
// organisation therefore lacks its grants to other organisations, and the members and grants of their users.

const text = z.string();
const texts = z.array(z.string()).default([]);
const projectGrant = z.looseObject({
  grantId: text,
  grantedOrgId: text,
  projectId: text,
  grantedRoleKeys: texts,
  state: text.default(''),
});
const userGrant = z.looseObject({
  userId: text,
  projectId: text,
  projectGrantId: text.optional(),
  roleKeys: texts,
  state: text.default(''),
});
const member = z.looseObject({ userId: text, roles: texts });
type ProjectGrant = z.infer<typeof projectGrant>;

/**
 * Adds the grants and members that the export of one organisation lacks because they concern others.
 * @param organisation its export, which is changed
 */
export async function addGrantsBetween(
  connection: ZitadelConnection,
  orgId: string,
  organisation: JsonObject,
): Promise<void> {
  const find = <Result>(path: string, result: z.ZodType<Result>) =>
    search(connection, { path: `/management/v1/${path}/_search`, orgId, result });
  const projectGrants = new SectionRecords(organisation, 'projectGrants', ['grantId']);
  const grants = await Array.fromAsync(find('projectgrants', projectGrant));
  for (const grant of grants) projectGrants.add(projectGrantRecord(grant));
  const userGrants = new SectionRecords(organisation, 'userGrants', ['userId', 'projectId', 'projectGrantId']);
  for await (const grant of find('users/grants', userGrant)) userGrants.add(userGrantRecord(grant));
  const members = new SectionRecords(organisation, 'orgMembers', ['userId']);
  for await (const { userId, roles } of find('orgs/me/members', member)) members.add({ userId, roles });
  const projectMembers = new SectionRecords(organisation, 'projectMembers', ['projectId', 'userId']);
  for (const projectId of new SectionRecords(organisation, 'projects', []).texts('projectId')) {
    for await (const { userId, roles } of find(`projects/${encodeURIComponent(projectId)}/members`, member))
      projectMembers.add({ projectId, userId, roles });
  }
  const grantMembers = new SectionRecords(organisation, 'projectGrantMembers', ['grantId', 'userId']);
  for (const { projectId, grantId } of grants) {
    const path = `projects/${encodeURIComponent(projectId)}/grants/${encodeURIComponent(grantId)}/members`;
    for await (const { userId, roles } of find(path, member)) grantMembers.add({ projectId, grantId, userId, roles });
  }
}

/** The records of one section of an exported organisation. */
class SectionRecords {
  private readonly organisation: JsonObject;
  private readonly section: string;
  private readonly key: readonly string[];
  private readonly records: JsonObject[];
  private readonly byKey: Map<string, JsonObject>;

  constructor(organisation: JsonObject, section: string, key: readonly string[]) {
    this.organisation = organisation;
    this.section = section;
    this.key = key;
    const list = organisation[section];
    this.records = Array.isArray(list) ? list.filter(isJsonObject) : [];
    this.byKey = new Map(this.records.map((record) => [this.keyIn(record), record]));
  }

  /** Adds a record, or the state of one that the export has: exports omit it. */
  add(record: JsonObject): void {
    const existing = this.byKey.get(this.keyIn(record));
    if (existing === undefined) {
      this.byKey.set(this.keyIn(record), record);
      this.records.push(record);
      this.organisation[this.section] = this.records;
    } else if (record.state !== undefined) {
      existing.state = record.state;
    }
  }

  texts(field: string): string[] {
    return this.records.map((record) => textAt(record, field, ''));
  }

  private keyIn(record: JsonObject): string {
    return JSON.stringify(this.key.map((field) => textAt(record, field, '')));
  }
}

function projectGrantRecord({ grantId, projectId, grantedOrgId, grantedRoleKeys, state }: ProjectGrant): JsonObject {
  const roles = grantedRoleKeys.length === 0 ? {} : { roleKeys: grantedRoleKeys };
  return { grantId, projectGrant: { projectId, grantedOrgId, ...roles }, ...inactive(state) };
}

function userGrantRecord({
  userId,
  projectId,
  projectGrantId,
  roleKeys,
  state,
}: z.infer<typeof userGrant>): JsonObject {
  const grant = projectGrantId ? { projectGrantId } : {};
  return { userId, projectId, ...grant, ...(roleKeys.length === 0 ? {} : { roleKeys }), ...inactive(state) };
}

/** The additional field `state` of this service's files: ZITADEL's exports lose it. */
function inactive(state: string): { readonly state?: string } {
  return state.endsWith('_INACTIVE') ? { state } : {};
}
