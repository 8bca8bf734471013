import { z } from 'zod';
import { foldLookAlikes } from '../../lookAlikes/lookAlikes.ts';
import { type DocumentKey, documentId, type StoredDocument } from '../store.ts';
import { type ClaimedName, claimName } from './claimName.ts';
import { isUser, scopeKey, userBody } from './loginNames.ts';
import type { MigrationBatch, MigrationStep } from './migration.ts';

/*
 * Until format 3, claims had names in lower case, so that names which look alike were different. Format 4 claims login
 * names, organisation names and verified domains by what all names have in common that look like them. Only names with
 * other characters than printable ASCII have a new key.
 */

const organisationBody = z.looseObject({ org: z.looseObject({ name: z.string().default('') }) });

/** Moves the claims of organisation names. */
export const foldOrganisationNames = foldingStep('4: names of organisations', 'organisations', (body) => {
  return { type: 'organisation', name: organisationBody.parse(body).org.name };
});

const domainBody = z.looseObject({ domainName: z.string().default(''), isVerified: z.boolean().default(false) });

/** Moves the claims of verified domains. */
export const foldDomains = foldingStep('4: verified domains', 'domains', (body) => {
  const { domainName, isVerified } = domainBody.parse(body);
  return isVerified ? { type: 'domain', name: domainName } : undefined;
});

/** Creates the step that moves the claims of one name of each record in a collection. */
function foldingStep(
  name: string,
  collection: 'organisations' | 'domains',
  readName: (body: unknown) => { readonly type: string; readonly name: string } | undefined,
): MigrationStep {
  const read = ({ id, orgId = '', body = '{}' }: StoredDocument): ClaimedName | undefined => {
    const found = readName(JSON.parse(body));
    if (found === undefined) return undefined;
    return movedName({ orgId, record: { collection, id } }, [found.type], found.name);
  };
  return {
    name,
    collection,
    fields: ['orgId', 'body'],
    dependencies: (document) => keysIn(read(document)),
    migrate: (document, batch) => {
      const moved = read(document);
      return moved && claimName(moved, batch);
    },
  };
}

/** Moves the claims of login names, in the scope of their organisation. */
export const foldLoginNames: MigrationStep = {
  name: '4: login names',
  collection: 'users',
  fields: ['partition', 'orgId', 'body'],
  dependencies: (document) => {
    const keys = [true, false].flatMap((byDomain) => keysIn(loginName(document, byDomain)));
    return keys.length === 0 ? [] : [scopeKey(document.orgId ?? ''), ...keys];
  },
  migrate: (document, batch) => {
    const moved = loginName(document, isByDomain(document, batch));
    return moved && claimName(moved, batch);
  },
};

function isByDomain({ orgId = '' }: StoredDocument, batch: MigrationBatch): boolean {
  return batch.find(scopeKey(orgId))?.ownerId?.startsWith('settings/') === true;
}

function loginName(document: StoredDocument, byDomain: boolean): ClaimedName | undefined {
  if (!isUser(document)) return undefined;
  const { id, orgId = '', body = '{}' } = document;
  const { user } = userBody.parse(JSON.parse(body));
  const scope = byDomain ? ['userName', orgId] : ['userName'];
  return movedName({ orgId, record: { collection: 'users', id } }, scope, user.userName);
}

/** Returns a name whose claim has another key than before; undefined if the key stays. */
function movedName(
  holder: Pick<ClaimedName, 'orgId' | 'record'>,
  scope: readonly string[],
  name: string,
): ClaimedName | undefined {
  const [folded, former] = [foldLookAlikes(name), name.toLowerCase()];
  const key = (text: string): DocumentKey => ({ collection: 'claims', id: documentId(...scope, text) });
  return folded === former ? undefined : { ...holder, claim: key(folded), former: key(former) };
}

function keysIn(name: ClaimedName | undefined): DocumentKey[] {
  return name === undefined ? [] : [name.claim, ...(name.former === undefined ? [] : [name.former])];
}
