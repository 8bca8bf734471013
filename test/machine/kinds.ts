import { isJsonObject, type JsonObject } from '../../shared/json/jsonObject.ts';
import type { Model } from './model.ts';

/** A record of an organisation, with its credentials separate from its JSON. */
export interface ModelRecord {
  readonly section: string;
  readonly orgId: string;
  readonly json: JsonObject;
  readonly hash?: string | undefined;
  readonly seed?: string | undefined;
  readonly factor: boolean;
  /** The number of changes of the record, including its creation (specification 2.2). */
  readonly sequence: number;
}

/** The reason not to write a record: an error, or a place where imports do not look for it (specification 8.4). */
type Rejection = 'failed' | 'notCarried' | undefined;

/** A section as documented: the phase (specification 6.2), key, names, references, errors (zitadel 5.7). */
interface Kind {
  readonly phase: 0 | 1 | 2 | 3 | 4;
  /** Records of one id space have different keys. */
  readonly ids: string;
  /** Paths; `$` is the organisation. */
  readonly key: readonly string[];
  readonly type: string;
  readonly id?: readonly string[];
  /** The name that must be unique, also among names that look alike. */
  readonly name?: (record: ModelRecord, model: Model) => string | undefined;
  readonly rejects?: (record: ModelRecord, model: Model) => Rejection;
  /** Whether each organisation of a file may have the same record (zitadel 5.9). */
  readonly perOrganisation?: true;
  /** Paths whose values an overwrite must not change. */
  readonly fixed?: readonly string[];
  /** The path of the user to whom the record belongs. */
  readonly user?: string;
}

const failedUnless = (holds: boolean): Rejection => (holds ? undefined : 'failed');
const userName = (record: ModelRecord, model: Model) =>
  `user ${model.loginNamesByDomain(record.orgId) ? record.orgId : ''} ${textAt(record, 'user.userName')}`;

/** The sections that the machine imports. */
export const kinds: Readonly<Record<string, Kind>> = {
  org: {
    phase: 0,
    ids: 'organisation',
    key: ['$'],
    type: 'org',
    name: (record) => `organisation ${textAt(record, 'org.name')}`,
  },
  domainPolicy: { phase: 1, ids: 'policy', key: ['$'], type: 'domain_policy' },
  projects: {
    phase: 1,
    ids: 'project',
    key: ['projectId'],
    type: 'project',
    name: (record) => `project ${record.orgId} ${textAt(record, 'project.name')}`,
  },
  domains: {
    phase: 1,
    ids: 'domain',
    key: ['$', 'domainName'],
    type: 'domain',
    name: (record) => (record.json.isVerified === true ? domainName(textAt(record, 'domainName')) : undefined),
  },
  projectRoles: {
    phase: 2,
    ids: 'role',
    key: ['projectId', 'roleKey'],
    type: 'project_role',
    name: (record) => `role ${textAt(record, 'projectId')} ${textAt(record, 'roleKey')}`,
    rejects: (record, model) => failedUnless(model.owner('project', textAt(record, 'projectId')) === record.orgId),
  },
  humanUsers: { phase: 2, ids: 'user', key: ['userId'], type: 'human_user', name: userName },
  machineUsers: { phase: 2, ids: 'user', key: ['userId'], type: 'machine_user', name: userName },
  projectGrants: {
    phase: 3,
    ids: 'projectGrant',
    key: ['grantId'],
    type: 'project_grant',
    id: ['$', 'projectGrant.projectId', 'projectGrant.grantedOrgId'],
    fixed: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
    name: (record) =>
      `grant ${textAt(record, 'projectGrant.projectId')} ${textAt(record, 'projectGrant.grantedOrgId')}`,
    rejects: (record, model) => {
      const [project, granted] = [
        textAt(record, 'projectGrant.projectId'),
        textAt(record, 'projectGrant.grantedOrgId'),
      ];
      const isOwn = model.owner('project', project) === record.orgId;
      // A grant to the own organisation gives nothing.
      if (isOwn && granted === record.orgId) return 'notCarried';
      return failedUnless(
        isOwn &&
          model.has('organisation', granted) &&
          haveRoles(model, project, textsAt(record, 'projectGrant.roleKeys')),
      );
    },
  },
  orgMembers: {
    phase: 3,
    ids: 'orgMember',
    key: ['$', 'userId'],
    type: 'org_member',
    user: 'userId',
    rejects: (record, model) =>
      failedUnless(
        model.has('user', textAt(record, 'userId')) &&
          textsAt(record, 'roles').every((role) => role.startsWith('ORG_')),
      ),
  },
  projectMembers: {
    phase: 3,
    ids: 'projectMember',
    key: ['projectId', 'userId'],
    type: 'project_member',
    perOrganisation: true,
    id: ['$', 'projectId', 'userId'],
    user: 'userId',
    rejects: (record, model) => {
      if (!model.has('user', textAt(record, 'userId'))) return 'failed';
      const owner = model.owner('project', textAt(record, 'projectId'));
      return owner !== undefined && owner !== record.orgId ? 'notCarried' : failedUnless(owner !== undefined);
    },
  },
  userMetadata: {
    phase: 3,
    ids: 'metadata',
    key: ['id', 'key'],
    type: 'user_metadata',
    user: 'id',
    rejects: ofOwnUser('id'),
  },
  machineKeys: {
    phase: 3,
    ids: 'machineKey',
    key: ['keyId'],
    type: 'machine_user_key',
    user: 'userId',
    rejects: ofOwnUser('userId'),
  },
  userGrants: {
    phase: 4,
    ids: 'userGrant',
    key: ['$', 'userId', 'projectId', 'projectGrantId'],
    type: 'user_grant',
    id: ['$', 'projectId', 'userId'],
    user: 'userId',
    rejects: (record, model) => {
      const [project, grantId] = [textAt(record, 'projectId'), textAt(record, 'projectGrantId')];
      const grant = model.find('projectGrant', grantId);
      const roles = textsAt(record, 'roleKeys');
      const isGranted =
        grant !== undefined &&
        textAt(grant, 'projectGrant.projectId') === project &&
        textAt(grant, 'projectGrant.grantedOrgId') === record.orgId &&
        roles.every((role) => textsAt(grant, 'projectGrant.roleKeys').includes(role));
      const owner = model.owner('project', project);
      const isPermitted = owner === record.orgId || grantTo(model, project, record.orgId) !== undefined;
      const exist = model.has('user', textAt(record, 'userId')) && owner !== undefined;
      return failedUnless(exist && isPermitted && haveRoles(model, project, roles) && (grantId === '' || isGranted));
    },
  },
  projectGrantMembers: {
    phase: 4,
    ids: 'projectGrantMember',
    key: ['projectId', 'grantId', 'userId'],
    type: 'project_grant_member',
    id: ['$', 'projectId', 'grantId', 'userId'],
    user: 'userId',
    rejects: (record, model) => {
      const grant = model.find('projectGrant', textAt(record, 'grantId'));
      const isOfProject =
        grant !== undefined && textAt(grant, 'projectGrant.projectId') === textAt(record, 'projectId');
      const isTheirs =
        grant?.orgId === record.orgId || textAt(grant ?? record, 'projectGrant.grantedOrgId') === record.orgId;
      const areOfGrants = textsAt(record, 'roles').every((role) => role.startsWith('PROJECT_GRANT_'));
      return failedUnless(areOfGrants && isOfProject && isTheirs && model.has('user', textAt(record, 'userId')));
    },
  },
};

/** The unique name of a verified domain. */
export const domainName = (domain: string) => `domain ${domain}`;

/** Returns the documented facts of a section. */
export function kindOf(section: string): Kind {
  const kind = kinds[section];
  if (kind === undefined) throw new Error(`the model has no section ${section}`);
  return kind;
}

/** Returns a record's place in the model. */
export function placeOf(record: Pick<ModelRecord, 'section' | 'orgId' | 'json'>): string {
  const { ids, key } = kindOf(record.section);
  return [ids, ...key.map((path) => textAt(record, path))].join(' ');
}

/** Returns the text at a path of a record's JSON; empty if there is none. */
export function textAt({ json, orgId }: Pick<ModelRecord, 'json' | 'orgId'>, path: string): string {
  const value = path === '$' ? orgId : valueAt(json, path);
  return typeof value === 'string' ? value : '';
}

/** Returns the texts in the list at a path of a record's JSON. */
export function textsAt({ json }: Pick<ModelRecord, 'json'>, path: string): readonly string[] {
  const value = valueAt(json, path);
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

function valueAt(json: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), json);
}

function ofOwnUser(path: string) {
  return (record: ModelRecord, model: Model) =>
    failedUnless(model.owner('user', textAt(record, path)) === record.orgId);
}

/** The project grant of a project to an organisation. */
export function grantTo(model: Model, project: string, orgId: string): ModelRecord | undefined {
  return [...model.records.values()].find(
    (record) =>
      record.section === 'projectGrants' &&
      textAt(record, 'projectGrant.projectId') === project &&
      textAt(record, 'projectGrant.grantedOrgId') === orgId,
  );
}

function haveRoles(model: Model, project: string, roles: readonly string[]): boolean {
  return roles.every((role) => model.has('role', project, role));
}
