import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tokenKey } from '../../../shared/auth/token.ts';
import {
  type Collection,
  type DocumentKey,
  documentId,
  type StoredDocument,
  type Write,
} from '../../../shared/store/store.ts';
import { organisation, person, zitadelExport } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { countsOf, type Database, readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';

const key = (collection: Collection, ...parts: readonly string[]): DocumentKey => ({
  collection,
  id: documentId(...parts),
});
const alice = key('users', 'alice');
const claim = key('claims', 'userName', 'O', 'name of alice');
const metadata = key('userMetadata', 'alice', 'team');
const remove = (at: DocumentKey): Write => ({ type: 'delete', key: at });

const content = [
  organisation('O', {
    domainPolicy: { orgId: 'O', userLoginMustBeDomain: true },
    humanUsers: [person('alice'), person('bob')],
    userMetadata: [{ id: 'alice', key: 'team', value: 'eA==' }],
    projects: [{ projectId: 'P', project: { name: 'Portal' } }],
    projectMembers: [{ projectId: 'P', userId: 'bob', roles: ['PROJECT_OWNER'] }],
  }),
  organisation('Q', { domains: [{ domainName: 'q.example', isVerified: true }] }),
];

async function filled(kind: StoreKind) {
  const store = await openTestStore(kind);
  const instance = await testInstance(store);
  await instance.import({ dataOrgs: { orgs: content } });
  return { store, instance };
}

/** An existing document, to be written elsewhere or in another form. */
function find(database: Database, { collection, id }: DocumentKey): StoredDocument {
  const found = database.get(collection)?.find((document) => document.id === id);
  if (found === undefined) throw new Error(`${collection}/${id} is not there`);
  return found;
}

function moved(database: Database, from: DocumentKey, to: DocumentKey): Write[] {
  const { id: _id, ...fields } = find(database, from);
  return [remove(from), { type: 'create', key: to, fields }];
}

function withBody(at: DocumentKey, body: string): Write {
  return { type: 'update', key: at, fields: { body, digest: hash('sha256', body, 'base64url') } };
}

type Damage = (database: Database) => readonly Write[];

const damages: Readonly<Record<string, readonly [damage: Damage, expected: RegExp]>> = {
  'a claim is lost': [() => [remove(claim)], /users\/.*alice has not its claim .*name of alice/],
  'a record is lost and its claim stays': [() => [remove(alice)], /claims\/.*name of alice is held by users\/.*alice/],
  'a claim is held by another': [
    () => [{ type: 'update', key: claim, fields: { ownerId: 'users/x~other' } }],
    /alice has its claim .* held by users\/x~other/,
  ],
  'a claim is of another organisation': [
    () => [{ type: 'update', key: claim, fields: { orgId: 'Q' } }],
    /claims\/.*name of alice is of the organisation Q/,
  ],
  'a record holds a claim that it does not need': [
    () => [
      { type: 'create', key: key('claims', 'userName', 'more'), fields: { orgId: 'O', ownerId: `users/${alice.id}` } },
    ],
    /claims\/.*more is held by users\/.*alice, which has it not/,
  ],
  'a body was edited': [
    (database) => [
      { type: 'update', key: alice, fields: { body: find(database, alice).body?.replace('First', 'Other') ?? '' } },
    ],
    /alice has another digest than its body/,
  ],
  'a digest was edited': [
    () => [{ type: 'update', key: metadata, fields: { digest: 'x' } }],
    /team has another digest/,
  ],
  'a body is not in the canonical form': [
    () => [withBody(metadata, '{"value":"eA==","key":"team","id":"alice"}')],
    /team has a body that is not canonical/,
  ],
  'a body has what no record of its section has': [
    () => [withBody(metadata, '{"id":["alice"]}')],
    /team is no record of userMetadata/,
  ],
  'a body is cut off': [() => [withBody(metadata, '{"id":"alice",')], /team has no JSON object for its body/],
  'a user name was edited with its digest': [
    (database) => [withBody(alice, find(database, alice).body?.replace('name of alice', 'carol') ?? '')],
    /alice has not its claim .*carol/,
  ],
  'a record is in another place than its own': [
    (database) => moved(database, metadata, key('userMetadata', 'alice', 'other')),
    /other should be userMetadata\/.*team/,
  ],
  'a record is where no export finds it': [
    () => [{ type: 'update', key: metadata, fields: { partition: 'userMetadata/Q' } }],
    /team is in the partition userMetadata\/Q/,
  ],
  'a record is in a section that there is not': [
    () => [{ type: 'update', key: metadata, fields: { partition: 'metadata/O' } }],
    /team is in no section: metadata\/O/,
  ],
  'a user is lost with the claim, and what refers to it stays': [
    () => [remove(alice), remove(claim)],
    /team refers to users\/.*alice, which is not there/,
  ],
  'a member is of a project of another organisation': [
    () => [{ type: 'update', key: key('projects', 'P'), fields: { orgId: 'Q', partition: 'projects/Q' } }],
    /members\/.* refers to projects\/.*P, which is of another organisation/,
  ],
  'an organisation is lost': [
    () => [remove(key('organisations', 'Q')), remove(key('claims', 'organisation', 'organisation q'))],
    /domains\/.*q\.example is of the organisation Q, which is not there/,
  ],
  'the scope of login names was changed after the users had come': [
    () => [withBody(key('settings', 'O', 'domainPolicy'), '{"orgId":"O"}')],
    /alice has not its claim/,
  ],
  'a token belongs to a user who does not exist': [
    () => [{ type: 'create', key: tokenKey('lost'), fields: { ownerId: 'nobody' } }],
    /tokens\/.* belongs to the user nobody, who does not exist/,
  ],
};

describeStores('the check of a whole database', (kind) => {
  it('finds nothing wrong with a new instance, nor after an import of all that ZITADEL exports', async () => {
    const { store, instance } = await filled(kind);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    await instance.import({ dataOrgs: { orgs: zitadelExport('export-full') }, with_keys: true });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});

// The check depends only on the read documents, so one store is enough.
describe('the check of a whole database', () => {
  it.each(Object.entries(damages))('finds that %s', async (_what, [damage, expected]) => {
    const { store } = await filled(sqlite);
    await store.commit(damage(await readDatabase(store)));
    expect(violationsOf(await readDatabase(store))).toContainEqual(expect.stringMatching(expected));
  });

  it('counts the records of organisations by section', async () => {
    const { store } = await filled(sqlite);
    const database = await readDatabase(store);
    expect(countsOf(database, ['O'])).toEqual({
      org: 1,
      domainPolicy: 1,
      humanUsers: 2,
      userMetadata: 1,
      projects: 1,
      projectMembers: 1,
    });
    expect(countsOf(database, ['Q', 'none'])).toEqual({ org: 1, domains: 1 });
  });
});
