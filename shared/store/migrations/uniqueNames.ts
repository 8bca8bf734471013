import { z } from 'zod';
import { type Collection, type DocumentKey, documentId, type StoredDocument } from '../store.ts';
import { claimName } from './claimName.ts';
import type { MigrationStep } from './migration.ts';

/*
 * Databases of format 3 may hold records that are older than the claims of their names. Format 4 claims the names of all
 * applications, roles and user links.
 */

const text = z.string().default('');
const applicationBody = z.looseObject({ app: z.looseObject({ projectId: text, name: text }) });
const roleBody = z.looseObject({ projectId: text, roleKey: text });
const linkBody = z.looseObject({ idpId: text, providedUserId: text });

/** Claims the names of applications within their project. */
export const claimApplicationNames = claimingStep('4: names of applications', 'applications', (body) => {
  const { app } = applicationBody.parse(body);
  return ['application', app.projectId, app.name];
});

/** Claims the keys of roles without regard to case. */
export const claimRoleKeys = claimingStep('4: keys of roles', 'projectRoles', (body) => {
  const { projectId, roleKey } = roleBody.parse(body);
  return ['projectRole', projectId, roleKey];
});

/** Claims the external users of user links. */
export const claimUserLinks = claimingStep('4: external users of links', 'userLinks', (body) => {
  const { idpId, providedUserId } = linkBody.parse(body);
  return ['userLink', idpId, providedUserId];
});

/** Creates the step that claims a name of each record in a collection. */
function claimingStep(
  name: string,
  collection: Collection,
  readName: (body: unknown) => readonly [type: string, ...parts: string[]],
): MigrationStep {
  const claimKey = ({ body = '{}' }: StoredDocument): DocumentKey => {
    const [type, ...parts] = readName(JSON.parse(body));
    return { collection: 'claims', id: documentId(type, ...parts.map((part) => part.toLowerCase())) };
  };
  return {
    name,
    collection,
    fields: ['orgId', 'body'],
    dependencies: (document) => [claimKey(document)],
    migrate: (document, batch) => {
      const { id, orgId = '' } = document;
      return claimName({ orgId, record: { collection, id }, claim: claimKey(document) }, batch);
    },
  };
}
