import { hash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Collection, collections } from '../../../shared/store/store.ts';
import { root } from '../../../tools/program.ts';
import { describeWithFirestore, firestoreEmulator } from '../../support/emulators/withFirestore.ts';
import { scanAll } from '../../support/stores/documents.ts';
import { firestore, openTestStore } from '../../support/stores/stores.ts';

const id = 'stored';
/** The document's name in Firestore, behind two digits of its hash. */
const name = `${hash('sha256', id).slice(0, 2)}~${id}`;

/** The requests of a client for one collection; `stored` is an existing document. */
const requests: Record<string, (collection: string, projectId: string) => ClientRequest> = {
  read: (collection) => ['GET', `documents/${collection}/${name}`],
  'read many of': (collection, projectId) => [
    'POST',
    'documents:batchGet',
    { documents: [`projects/${projectId}/databases/(default)/documents/${collection}/${name}`] },
  ],
  list: (collection) => ['GET', `documents/${collection}`],
  query: (collection) => ['POST', 'documents:runQuery', { structuredQuery: { from: [{ collectionId: collection }] } }],
  'query, as a collection group,': (collection) => [
    'POST',
    'documents:runQuery',
    { structuredQuery: { from: [{ collectionId: collection, allDescendants: true }] } },
  ],
  count: (collection) => [
    'POST',
    'documents:runAggregationQuery',
    {
      structuredAggregationQuery: {
        structuredQuery: { from: [{ collectionId: collection }] },
        aggregations: [{ count: {} }],
      },
    },
  ],
  update: (collection) => ['PATCH', `documents/${collection}/${name}`, { fields: {} }],
  'create in': (collection) => ['POST', `documents/${collection}?documentId=${randomUUID()}`, { fields: {} }],
  'create below': (collection) => ['POST', `documents/${collection}/${name}/below`, { fields: {} }],
  delete: (collection) => ['DELETE', `documents/${collection}/${name}`],
};

const ordinary = Object.entries(requests).map(([name, request]) => ({ name, request }));
const signedInOnly = `
  rules_version = '2';
  service cloud.firestore {
    match /databases/{database}/documents {
      match /{document=**} { allow read, write: if request.auth != null; }
    }
  }`;

/** A project whose database has one document in every collection, in the form of the functions, and the given rules. */
async function projectWith(rules: string): Promise<string> {
  const location = await firestore.newLocation();
  if (location.kind !== 'firestore') throw new Error('security rules are of Firestore only');
  const { projectId } = location;
  const store = await openTestStore(firestore, location);
  const key = (collection: Collection) => ({ collection, id });
  await store.commit(collections.map((name) => ({ type: 'create', key: key(name), fields: { body: '{}' } })));
  await putRules(projectId, rules);
  return projectId;
}

describeWithFirestore('the security rules', () => {
  let rules = '';
  beforeAll(async () => {
    rules = await readFile(join(root, 'firestore.rules'), 'utf8');
  });

  it.each(ordinary)('let no client $name any collection, signed in or not', async ({ request }) => {
    const projectId = await projectWith(rules);
    const callers = [undefined, signedIn(projectId)];
    const asked = collections.flatMap((name) => callers.map((caller) => ({ name, caller })));
    const statuses = asked.map(({ name, caller }) => statusFor(projectId, request(name, projectId), caller));
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([403]));
  });

  it.each(ordinary)('are the only reason why clients cannot $name: permissive rules allow it', async ({ request }) => {
    const projectId = await projectWith(signedInOnly);
    const sent = request('users', projectId);
    expect(await statusFor(projectId, sent, undefined)).toBe(403);
    expect(await statusFor(projectId, sent, signedIn(projectId))).toBe(200);
  });

  it('do not apply to the functions', async () => {
    const projectId = await projectWith(rules);
    const store = await openTestStore(firestore, { kind: 'firestore', projectId, databaseId: '(default)' });
    const key = { collection: 'users', id } as const;
    await store.commit([{ type: 'update', key, fields: { state: 'USER_STATE_ACTIVE' } }]);
    const [read] = await store.getMany([key]);
    expect(read).toEqual({ id, body: '{}', state: 'USER_STATE_ACTIVE' });
    const snapshot = await store.snapshot();
    expect((await scanAll(snapshot, { collection: 'users' })).documents).toHaveLength(1);
    await store.transaction(async ({ getMany, write }) => {
      await getMany([key]);
      write([{ type: 'delete', key }]);
    });
    expect(await store.getMany([key])).toEqual([undefined]);
  });
});

/** One request to the REST API of Firestore, as a client in a browser can send it; the path begins behind the database. */
type ClientRequest = readonly [method: string, path: string, body?: object];

/** A client that is signed in from the emulator's point of view: it accepts tokens without a signature. */
function signedIn(projectId: string): string {
  const now = Math.floor(Date.now() / 1000);
  const times = { iat: now, auth_time: now, exp: now + 3_600 };
  const claims = { iss: `https://securetoken.google.com/${projectId}`, aud: projectId, sub: 'alice', ...times };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `Bearer ${encode({ alg: 'none', typ: 'JWT' })}.${encode({ ...claims, user_id: 'alice' })}.`;
}

/** Activates security rules for one project of the emulator: a project without rules is open to everyone. */
async function putRules(projectId: string, content: string): Promise<void> {
  const rules = { files: [{ name: 'firestore.rules', content }] };
  const url = `http://${firestoreEmulator}/emulator/v1/projects/${projectId}:securityRules`;
  const response = await fetch(url, { method: 'PUT', body: JSON.stringify({ rules }) });
  if (!response.ok) throw new Error(`the emulator refused the rules: ${await response.text()}`);
}

/** Sends a request to a project's database, without `authorization` unauthenticated; returns the response's status. */
async function statusFor(
  projectId: string,
  [method, path, body]: ClientRequest,
  authorization: string | undefined,
): Promise<number> {
  const response = await fetch(`http://${firestoreEmulator}/v1/projects/${projectId}/databases/(default)/${path}`, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(body !== undefined ? { body: JSON.stringify(body) } : {}),
  });
  await response.arrayBuffer();
  return response.status;
}
