import { grpc } from 'google-gax';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { listAuthenticationMethodTypes, removeOtpEmail } from '../../../functions/removeOtpEmail/operation.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { createMember } from '../../../shared/accounts/memberships.ts';
import { createPersonalAccessToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { authenticate } from '../../../shared/auth/authorise.ts';
import { lengthTag, WireReader } from '../../../shared/store/firestore/wireFormat.ts';
import {
  decorateStore,
  type ScanRange,
  type Snapshot,
  type Store,
  type Transaction,
  type TransactionWork,
} from '../../../shared/store/store.ts';
import { ORGANISATION, sampleUser } from '../../../tools/bench/sample.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { createUser } from '../../support/stores/documents.ts';
import { firestore, openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const PROJECT = '350000000000000001';
const users = (count: number) => Array.from({ length: count }, (_, number) => sampleUser(number));
const people = (count: number) => [{ orgId: ORGANISATION, org: { name: 'Acme' }, humanUsers: users(count) }];
const grants = (count: number) => [
  {
    orgId: ORGANISATION,
    org: { name: 'Acme' },
    projects: [{ projectId: PROJECT, project: { name: 'Portal' } }],
    userGrants: users(count).map(({ userId }) => ({ userId, projectId: PROJECT })),
  },
];

const idp = { idpId: 'idp', idp: { name: 'idp', clientId: 'c', clientSecret: 's', issuer: 'https://idp.example.com' } };
const attached = (count: number) => [
  {
    orgId: ORGANISATION,
    org: { name: 'Acme' },
    userMetadata: users(count).map(({ userId: id }) => ({ id, key: 'team', value: 'eA==' })),
  },
];
const links = (count: number) => [
  {
    orgId: ORGANISATION,
    org: { name: 'Acme' },
    oidcIdps: [idp],
    userLinks: users(count).map(({ userId }) => ({ userId, idpId: 'idp', providedUserId: userId })),
  },
];

/** The reads and writes of an instance with `count` people, step by step. */
async function billsOf(count: number): Promise<Record<string, Billed>> {
  const counted = countedStore(await openTestStore(sqlite));
  const instance = await testInstance(counted.store);
  const bill = async (step: () => Promise<unknown>) => {
    counted.take();
    await step();
    return counted.take();
  };
  const send = (orgs: object[]) => () => instance.import({ timeout: '5m', data_orgs: { orgs } });
  return {
    people: await bill(send(people(count))),
    'people again': await bill(send(people(count))),
    export: await bill(() => instance.export()),
    metadata: await bill(send(attached(count))),
    links: await bill(send(links(count))),
    grants: await bill(send(grants(count))),
    'grants again': await bill(send(grants(count))),
  };
}

/** Rounds: the first one or two batches of 250 records also read their own keys, by the load of the machine. */
const wholePerRecord = (operations: number) => Math.round(operations / 2_500);

describe('the costs of an operation', () => {
  it('are those of each added record', async () => {
    const [few, many] = [await billsOf(500), await billsOf(3_000)];
    const added = (step: string): Billed => ({
      read: wholePerRecord((many[step]?.read ?? 0) - (few[step]?.read ?? 0)),
      written: wholePerRecord((many[step]?.written ?? 0) - (few[step]?.written ?? 0)),
    });
    // Except the claims of the domains in user names, of which the sample has less than 1,000.
    expect(added('people')).toEqual({ read: 0, written: 2 });
    expect(added('people again')).toEqual({ read: 1, written: 0 });
    expect(added('export')).toEqual({ read: 1, written: 0 });
    expect(added('metadata')).toEqual({ read: 1, written: 1 });
    expect(added('links')).toEqual({ read: 1, written: 2 });
    expect(added('grants')).toEqual({ read: 1, written: 1 });
    expect(added('grants again')).toEqual({ read: 2, written: 0 });
  });

  it('are those of a removal and of a list by another caller, including the token', async () => {
    const counted = countedStore(await openTestStore(sqlite));
    const now = new Date();
    const audited = memoryTrail().audit.call('otp-email', {});
    const { token } = await initialise(counted.store, { name: 'test' }, 86_400_000, now);
    await counted.store.commit([createUser('ada', { orgId: '1', otpEmail: true, sequence: 1 })]);
    counted.take();
    const caller = await authenticate(counted.store, `Bearer ${token}`, 'otp-email', now);
    await removeOtpEmail(counted.store, caller, 'ada', now, audited);
    expect(counted.take()).toEqual({ read: 6, written: 1 });
    const again = await authenticate(counted.store, `Bearer ${token}`, 'otp-email', now);
    await listAuthenticationMethodTypes(counted.store, again, { userId: 'ada' }, now);
    expect(counted.take()).toEqual({ read: 6, written: 0 });
  });
});

describeWithFirestore('the calls of Firestore, one after the other,', () => {
  it('are four in a removal, and one more for a user of another organisation than an ORG_OWNER', async () => {
    const store = await openTestStore(firestore);
    const now = new Date();
    const audited = memoryTrail().audit.call('otp-email', {});
    const { token: ownerToken } = await initialise(store, { name: 'test' }, 86_400_000, now);
    const own = { userId: 'ada', orgId: '1' };
    const issued = createPersonalAccessToken(own, now, 86_400_000);
    await store.commit([
      ...['ada', 'ben', 'cy', 'dan'].map((id) => createUser(id, { orgId: id === 'dan' ? '2' : '1', otpEmail: true })),
      issued.write,
      createMember(own, ['ORG_OWNER'], now),
      createMember({ userId: 'ada', orgId: '2' }, ['ORG_OWNER'], now),
    ]);
    const counts: number[] = [];
    for (const [token, userId] of [
      [ownerToken, 'ben'],
      [issued.created.token, 'ada'],
      [issued.created.token, 'cy'],
      [issued.created.token, 'dan'],
    ] as const) {
      // The first operation also checks the database's format.
      const calls = countCalls();
      const caller = await authenticate(store, `Bearer ${token}`, 'otp-email', now);
      await removeOtpEmail(store, caller, userId, now, audited);
      counts.push(calls());
    }
    expect(counts).toEqual([4, 4, 4, 5]);
  });
});

describeWithFirestore('a commit of Firestore', () => {
  it('has at most 500 writes in an import that creates people, and in one that renames all of them', async () => {
    const calls = vi.spyOn(grpc.Client.prototype, 'makeUnaryRequest');
    onTestFinished(() => void vi.restoreAllMocks());
    const instance = await testInstance(await openTestStore(firestore));
    const humanUsers = users(600).map(({ userId }) => person(userId));
    const renamed = [{ orgId: ORGANISATION, org: { name: 'Acme' }, humanUsers }];
    for (const [orgs, mode] of [
      [people(600), 'report'],
      [renamed, 'overwrite'],
    ] as const) {
      calls.mockClear();
      await instance.import({ timeout: '5m', data_orgs: { orgs }, on_conflict: mode });
      const commits = calls.mock.calls.filter(([method]) => method.endsWith('/Commit'));
      const writes = commits.map(([, , , request]) => countWrites(z.instanceof(Buffer).parse(request)));
      expect(Math.max(...writes)).toBeGreaterThan(490);
      expect(Math.max(...writes)).toBeLessThanOrEqual(500);
    }
  });
});

/** Counts the writes of an encoded commit: the fields with the number 2. */
function countWrites(request: Buffer): number {
  const reader = new WireReader(request);
  let writes = 0;
  for (let tag = reader.tag(request.length); tag !== 0; tag = reader.tag(request.length)) {
    if (tag === lengthTag(2)) writes++;
    reader.skip(tag);
  }
  return writes;
}

/** Counts the calls of Firestore until the returned function is called. */
function countCalls(): () => number {
  const spies = [
    vi.spyOn(grpc.Client.prototype, 'makeServerStreamRequest'),
    vi.spyOn(grpc.Client.prototype, 'makeUnaryRequest'),
  ];
  onTestFinished(() => void vi.restoreAllMocks());
  const before = spies.map(({ mock }) => mock.calls.length);
  return () => spies.reduce((sum, { mock }, index) => sum + mock.calls.length - (before[index] ?? 0), 0);
}

/** The billed operations of Cloud Firestore: read documents, one for an empty query, and written documents. */
interface Billed {
  readonly read: number;
  readonly written: number;
}

/** A store that counts its reads and writes; `take` returns the counts since the last call. */
function countedStore(store: Store): { readonly store: Store; take(): Billed } {
  const billed = { read: 0, written: 0 };
  const counted = <Found>(found: Found[]): Found[] => {
    billed.read += found.length;
    return found;
  };
  async function* scan(snapshot: Snapshot, range: ScanRange) {
    let found = 0;
    try {
      for await (const documents of snapshot.scan(range)) {
        found += documents.length;
        yield documents;
      }
    } finally {
      // A reader that stops early is billed too, and when it stops depends on the machine.
      billed.read += Math.max(1, found);
    }
  }
  const watched = watchedStore(store, (writes) => {
    billed.written += writes.length;
  });
  return {
    store: decorateStore(watched, (inner) => ({
      getMany: async (keys, fields) => counted(await inner.getMany(keys, fields)),
      transaction: <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
        inner.transaction<Result>((transaction, earlier) => {
          const getMany: Transaction['getMany'] = async (keys, fields) =>
            counted(await transaction.getMany(keys, fields));
          return work({ ...transaction, getMany }, earlier);
        }, until),
      snapshot: async () => {
        const snapshot = await inner.snapshot();
        return {
          ...snapshot,
          readTime: snapshot.readTime,
          getMany: async (keys, fields) => counted(await snapshot.getMany(keys, fields)),
          scan: (range) => scan(snapshot, range),
          [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
        };
      },
    })),
    take: () => {
      const taken = { ...billed };
      billed.read = 0;
      billed.written = 0;
      return taken;
    },
  };
}
