import type { RecordFault, Reference, Section } from './section.ts';

/** A unique name that another record has. */
export const taken = (key: string): RecordFault => ({ id: 'V3-DKcYh', key });
/** A user who must be there, person or service user. */
export const user = (path: string, id: string): Reference => ({
  collection: 'users',
  key: [path],
  missing: { id, key: 'Errors.User.NotFound' },
});
/** A project that must be there. */
export const project = (path: string, id: string): Reference => ({
  collection: 'projects',
  key: [path],
  missing: { id, key: 'Errors.Project.NotFound' },
});
/** An identity provider that must be there. */
export const identityProvider = (path: string, id: string): Reference => ({
  collection: 'identityProviders',
  key: [path],
  missing: { id, key: 'Errors.IDPConfig.NotExisting' },
});
/** Roles of a project that must be there. */
export const projectRoles = (projectId: string, roleKeys: string, id: string): Reference => ({
  collection: 'projectRoles',
  key: [projectId, roleKeys],
  missing: { id, key: 'Errors.Project.Role.NotFound' },
});
/** The same, where one of another organisation is as good as none. */
export const own = (reference: Reference): Reference => ({ ...reference, ofOther: reference.missing });
/** User names are unique, be it in the instance or in the organisation. */
export const userName: NonNullable<Section['unique']> = [
  {
    type: 'userName',
    parts: ['user.userName'],
    taken: taken('Errors.User.AlreadyExists'),
    perOrganisationByDomainPolicy: true,
  },
];

/** An organisation's own policy: one object, identified by its organisation. */
export function policy(
  name: string,
  type: string,
  exists: RecordFault,
  more: Pick<Section, 'check' | 'fixed' | 'references'> = {},
): Section {
  return {
    name,
    collection: 'settings',
    phase: more.references === undefined ? 1 : 2,
    key: ['$orgId', `=${name}`],
    ...more,
    error: { type, id: ['$orgId'], exists },
  };
}

/** Texts of an organisation, one record a language. ZITADEL sets them anew at each import, so it has no error for them. */
export function texts(name: string, type: string): Section {
  return {
    name,
    collection: 'texts',
    phase: 1,
    key: ['$orgId', `=${name}`, 'language'],
    error: {
      type,
      id: ['$orgId', 'language'],
      exists: { id: 'IMPORT-textExists', key: 'Errors.CustomText.AlreadyExists' },
    },
  };
}
