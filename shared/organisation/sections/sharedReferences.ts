import type { ZitadelKey } from '../../errors/recordIssues.ts';
import type { KeyedIssue, Reference } from '../relations.ts';
import type { GivenPrivilege } from './section.ts';

/** Creates the issue of a unique name that another record has already claimed. */
export const taken = (key: ZitadelKey): KeyedIssue => ({ id: 'V3-DKcYh', key });
export const user = (path: string, id: string): Reference => ({
  collection: 'users',
  key: [path],
  missing: { id, key: 'Errors.User.NotFound' },
});
export const project = (path: string, id: string): Reference => ({
  collection: 'projects',
  key: [path],
  missing: { id, key: 'Errors.Project.NotFound' },
});
export const identityProvider = (path: string, id: string): Reference => ({
  collection: 'identityProviders',
  key: [path],
  missing: { id, key: 'Errors.IDPConfig.NotExisting' },
});
export const projectRoles = (projectId: string, roleKeys: string, id: string): Reference => ({
  collection: 'projectRoles',
  key: [projectId, roleKeys],
  missing: { id, key: 'Errors.Project.Role.NotFound' },
});
/**
 * Returns a copy of the reference that allows only targets in the record's own organisation: a target in another
 * organisation counts as missing.
 */
export const own = (reference: Reference): Reference => ({ ...reference, ifForeign: reference.missing });

/** The properties of a privilege that applies to the organisation of the record that gives it. */
export const inOrganisation = {
  within: { collection: 'organisations', key: ['$orgId'] },
  noun: 'organisation',
} as const satisfies Partial<GivenPrivilege>;

/**
 * Returns the keys of the targets of a reference, each as a list of its parts. A reference has several targets if a
 * path in `key` leads through a list.
 */
export function targetParts({ key, optional }: Reference, readTexts: (path: string) => readonly string[]): string[][] {
  const [first = '', ...others] = key;
  let targets = readTexts(first).map((text) => [text]);
  for (const path of others) {
    const texts = readTexts(path);
    targets = targets.flatMap((parts) => texts.map((text) => [...parts, text]));
  }
  return optional === true ? targets.filter((parts) => parts.at(-1) !== '') : targets;
}
