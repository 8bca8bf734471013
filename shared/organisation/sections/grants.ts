import { type RecordWarning, warn } from '../../errors/warnings.ts';
import { type JsonObject, parseObject, textAt, textsAt } from '../../json/jsonObject.ts';
import { type DocumentKey, documentId, documentPath, type Reader, readByPath } from '../../store/store.ts';
import { caselessClaimKey } from '../claimKeys.ts';
import type { KeyedIssue } from '../relations.ts';
import type { Completion, ImportedRecord, Section } from './section.ts';
import { own, project, projectRoles, taken, user } from './sharedReferences.ts';

const grantedToItself = warn('grant_to_itself', {});

/** The issue of a user grant if the project is not granted to the organisation of the user grant. */
const grantMissing: KeyedIssue = { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' };

const projectGrantMissingRole = 'COMMAND-6m9gd';

const userGrantMissingRole = 'COMMAND-mm9F4';

const roleMissing: KeyedIssue = { id: userGrantMissingRole, key: 'Errors.Project.Role.NotFound' };

/** The issue of a project grant if the import would remove roles from it that user grants still use. */
export const rolesInUse: KeyedIssue = { id: 'IMPORT-rolesInUse', key: 'Errors.Project.Grant.RolesInUse' };

export const projectGrantSection: Section = {
  name: 'projectGrants',
  inner: 'projectGrant',
  collection: 'projectGrants',
  phase: 3,
  zitadelStep: 'project grants',
  key: ['grantId'],
  unique: [
    {
      type: 'projectGrant',
      parts: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
      taken: taken('Errors.Project.Grant.AlreadyExists'),
    },
  ],
  references: [
    own(project('projectGrant.projectId', 'COMMAND-m9gsd')),
    {
      collection: 'organisations',
      key: ['projectGrant.grantedOrgId'],
      missing: { id: 'COMMAND-3m9gg', key: 'Errors.Org.NotFound' },
      ifOwn: grantedToItself,
    },
    projectRoles('projectGrant.projectId', 'projectGrant.roleKeys[]', projectGrantMissingRole),
  ],
  fixed: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
  error: {
    type: 'project_grant',
    id: ['$orgId', 'projectGrant.projectId', 'projectGrant.grantedOrgId'],
    exists: taken('Errors.Project.Grant.AlreadyExists'),
  },
  success: {
    field: 'projectGrants',
    entry: { grantId: 'grantId', projectId: 'projectGrant.projectId', orgId: 'projectGrant.grantedOrgId' },
  },
};

export const userGrantSection: Section = {
  name: 'userGrants',
  collection: 'userGrants',
  phase: 4,
  zitadelStep: 'user grants',
  key: ['$orgId', 'userId', 'projectId', 'projectGrantId'],
  exported: { ofProject: 'projectId' },
  completed: { field: 'projectGrantId', complete: completeProjectGrants },
  zitadel: {
    unexported: ["grants and memberships that the token's user has in other organisations"],
  },
  references: [
    user('userId', 'COMMAND-4f8sg'),
    // If ZITADEL does not find the project, it assumes that the project belongs to another organisation. So the error
    // is about a missing project grant.
    {
      collection: 'projects',
      key: ['projectId'],
      missing: grantMissing,
      ifForeign: grantMissing,
      permittedBy: { type: 'projectGrant', parts: ['projectId', '$orgId'] },
    },
    {
      collection: 'projectGrants',
      key: ['projectGrantId'],
      missing: grantMissing,
      // If the project belongs to the organisation of the user grant, ZITADEL's error is about a missing role and not
      // about a missing project grant.
      missingBesideOwn: { collection: 'projects', issue: roleMissing },
      optional: true,
      check: checkUsedProjectGrant,
    },
    projectRoles('projectId', 'roleKeys[]', roleMissing.id),
  ],
  error: {
    type: 'user_grant',
    id: ['$orgId', 'projectId', 'userId'],
    exists: taken('Errors.UserGrant.AlreadyExists'),
  },
  success: { field: 'userGrants', entry: { projectId: 'projectId', userId: 'userId' } },
};

export const grantSections: readonly Section[] = [projectGrantSection, userGrantSection];

function checkUsedProjectGrant(grant: JsonObject, record: JsonObject, orgId: string): KeyedIssue | undefined {
  const isOfProject = textAt(grant, 'projectGrant.projectId', orgId) === record.projectId;
  if (!isOfProject || textAt(grant, 'projectGrant.grantedOrgId', orgId) !== orgId) {
    return grantMissing;
  }
  const granted = new Set(textsAt(grant, 'projectGrant.roleKeys[]', orgId));
  const areGranted = textsAt(record, 'roleKeys[]', orgId).every((role) => granted.has(role));
  return areGranted ? undefined : roleMissing;
}

type UserGrant = Pick<ImportedRecord, 'json' | 'orgId'>;

/**
 * Corrects the project grant in user grants as ZITADEL does. If a user grant refers to no project grant, adds the id of
 * the project grant by which the project is granted to the organisation of the user grant. If the project belongs to
 * this organisation, no project grant is needed, so an id of an unknown project grant is removed.
 */
async function completeProjectGrants(
  reader: Reader,
  userGrants: readonly UserGrant[],
): Promise<readonly (Completion | undefined)[]> {
  const incomplete = userGrants.filter(({ json }) => grantIdOf(json) === '');
  const complete = userGrants.filter(({ json }) => grantIdOf(json) !== '');
  const grantIds = await findProjectGrants(reader, incomplete);
  const needless = await findNeedless(reader, complete);
  return userGrants.map((userGrant) => {
    const id = grantIds.get(userGrant);
    if (id !== undefined) return { value: id, warning: filled(id) };
    return needless.has(userGrant) ? { value: undefined, warning: unset(grantIdOf(userGrant.json)) } : undefined;
  });
}

function grantIdOf(userGrant: JsonObject): string {
  return textAt(userGrant, 'projectGrantId', '');
}

function filled(id: string): RecordWarning {
  return warn('field_filled', { field: 'projectGrantId', value: id });
}

function unset(id: string): RecordWarning {
  return warn('field_unset', { field: 'projectGrantId', value: id });
}

async function findProjectGrants(
  reader: Reader,
  userGrants: readonly UserGrant[],
): Promise<ReadonlyMap<UserGrant, string>> {
  if (userGrants.length === 0) return new Map();
  const claims = userGrants.map(({ json, orgId }) =>
    caselessClaimKey('projectGrant', [textAt(json, 'projectId', orgId), orgId]),
  );
  const holders = await readByPath(reader, claims, ['ownerId']);
  const prefix = 'projectGrants/';
  const holding = userGrants.flatMap((userGrant, index) => {
    const claim = claims[index];
    const path = claim === undefined ? undefined : holders.get(documentPath(claim))?.ownerId;
    if (path === undefined) return [];
    const key: DocumentKey = { collection: 'projectGrants', id: path.slice(prefix.length) };
    return [{ userGrant, key }];
  });
  const bodies = await readByPath(
    reader,
    holding.map(({ key }) => key),
    ['body'],
  );
  return new Map(
    holding.flatMap(({ userGrant, key }) => {
      const body = bodies.get(documentPath(key))?.body;
      return body === undefined ? [] : [[userGrant, textAt(parseObject(body), 'grantId', '')] as const];
    }),
  );
}

/**
 * Finds the user grants that refer to an unknown project grant but need none, because the project belongs to the
 * organisation of the user grant.
 */
async function findNeedless(reader: Reader, userGrants: readonly UserGrant[]): Promise<ReadonlySet<UserGrant>> {
  if (userGrants.length === 0) return new Set();
  const projectOf = ({ json, orgId }: UserGrant): DocumentKey => ({
    collection: 'projects',
    id: documentId(textAt(json, 'projectId', orgId)),
  });
  const grantOf = ({ json }: UserGrant): DocumentKey => ({
    collection: 'projectGrants',
    id: documentId(grantIdOf(json)),
  });
  const stored = await readByPath(
    reader,
    userGrants.flatMap((userGrant) => [projectOf(userGrant), grantOf(userGrant)]),
    ['orgId'],
  );
  const isNeedless = (userGrant: UserGrant) =>
    stored.get(documentPath(projectOf(userGrant)))?.orgId === userGrant.orgId &&
    stored.get(documentPath(grantOf(userGrant))) === undefined;
  return new Set(userGrants.filter(isNeedless));
}
