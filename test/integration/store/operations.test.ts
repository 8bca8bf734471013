import { describe, expect, it } from 'vitest';
import { ORGANISATION, sampleUser } from '../../../bench/sample.ts';
import { listAuthenticationMethodTypes, removeOtpEmail } from '../../../functions/removeOtpEmail/operation.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { authenticate } from '../../../shared/auth/authorise.ts';
import type { ScanRange, Snapshot, Store, Transaction, TransactionWork } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { createUser } from '../../support/stores/documents.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
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

describe('the costs of an operation', () => {
  it('are those of each added record', async () => {
    const [few, many] = [await billsOf(500), await billsOf(1_000)];
    const added = (step: string): Billed => ({
      // Rounded down: a scan begins once per batch, and a commit of many records stores its outcome.
      read: Math.floor(((many[step]?.read ?? 0) - (few[step]?.read ?? 0)) / 500),
      written: Math.floor(((many[step]?.written ?? 0) - (few[step]?.written ?? 0)) / 500),
    });
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

/** The billed operations of Cloud Firestore: read documents, one for an empty query, and written documents. */
interface Billed {
  readonly read: number;
  readonly written: number;
}

/** A store that counts its reads and writes; `take` returns the counts since the last call. */
function countedStore(store: Store): { readonly store: Store; take(): Billed } {
  const billed = { read: 0, written: 0 };
  const watched = watchedStore(store, (writes) => {
    billed.written += writes.length;
  });
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
  return {
    store: {
      ...watched,
      getMany: async (keys, fields) => counted(await store.getMany(keys, fields)),
      transaction: <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
        watched.transaction<Result>((transaction, earlier) => {
          const getMany: Transaction['getMany'] = async (keys, fields) =>
            counted(await transaction.getMany(keys, fields));
          return work({ ...transaction, getMany }, earlier);
        }, until),
      snapshot: async () => {
        const snapshot = await store.snapshot();
        return {
          ...snapshot,
          readTime: snapshot.readTime,
          getMany: async (keys, fields) => counted(await snapshot.getMany(keys, fields)),
          scan: (range) => scan(snapshot, range),
          [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
        };
      },
    },
    take: () => {
      const taken = { ...billed };
      billed.read = 0;
      billed.written = 0;
      return taken;
    },
  };
}
