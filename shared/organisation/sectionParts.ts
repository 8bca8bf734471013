import type { JsonObject } from '../json/jsonObject.ts';
import type { RecordFault, Reference, Section } from './section.ts';

/** A unique name that another record has. */
export const taken = (key: string): RecordFault => ({ id: 'V3-DKcYh', key });
/** A user who must exist, person or service user. */
export const user = (path: string, id: string): Reference => ({
  collection: 'users',
  key: [path],
  missing: { id, key: 'Errors.User.NotFound' },
});
/** A project that must exist. */
export const project = (path: string, id: string): Reference => ({
  collection: 'projects',
  key: [path],
  missing: { id, key: 'Errors.Project.NotFound' },
});
/** An identity provider that must exist. */
export const identityProvider = (path: string, id: string): Reference => ({
  collection: 'identityProviders',
  key: [path],
  missing: { id, key: 'Errors.IDPConfig.NotExisting' },
});
/** Project roles that must exist. */
export const projectRoles = (projectId: string, roleKeys: string, id: string): Reference => ({
  collection: 'projectRoles',
  key: [projectId, roleKeys],
  missing: { id, key: 'Errors.Project.Role.NotFound' },
});
/** The same reference, where another organisation's record counts as missing. */
export const own = (reference: Reference): Reference => ({ ...reference, ofOther: reference.missing });

/** Gives `json` the fields of `ordered`, in that order. */
export function reorder(json: JsonObject, ordered: JsonObject): void {
  const names = Object.keys(ordered);
  // Most records have the order already, and V8 slows down an object whose fields are deleted.
  const inOrder = Object.keys(json).every((name, index) => name === names[index]);
  if (!inOrder) for (const name of Object.keys(json)) delete json[name];
  for (const name of names) if (ordered[name] !== undefined) json[name] = ordered[name];
}

/** Normalises a record that names its organisation: it is the organisation that the record stands in. */
export function nameOrganisation(json: JsonObject, orgId: string): void {
  const rest = { ...json };
  delete rest.orgId;
  reorder(json, { orgId, ...rest });
}

/** An organisation's texts, one record a language. ZITADEL replaces them at each import, so it has no error for them. */
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
