import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { issueToken, revokeTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { storeContention, storeFailed, storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { createCloudStorage, openStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import type { ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { countsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const PEOPLE = 700;
const ids = Array.from({ length: PEOPLE }, (_, index) => `P${index}`);
/** Two phases of records, for each of which an import reads its object again. */
const file = {
  orgs: [
    organisation('O', {
      humanUsers: ids.map((id) => person(id)),
      userMetadata: ids.map((id) => ({ id, key: 'number', value: 'eA==' })),
    }),
  ],
};
const total = { org: 1, humanUsers: PEOPLE, userMetadata: PEOPLE };
const PROGRESS = 'type.googleapis.com/identity.v1.ImportProgress';
const never = new AbortController().signal;

const progressBody = z.looseObject({
  details: z.array(z.looseObject({ '@type': z.string(), written: z.record(z.string(), z.number()).optional() })),
});

/** What happens once some people are written. */
interface Fault {
  readonly status: number;
  readonly resumable: boolean;
  /** The name of the error; absent for ZITADEL's. */
  readonly reason?: string;
  /** Happens in the middle of the import. */
  readonly strike?: (store: Store, token: { readonly userId: string }) => Promise<unknown>;
  /** The error of the store's later operations. */
  readonly ofStore?: () => Error;
  readonly replacesObject?: boolean;
}

/** A fault of the store from then on. */
const ofStore = (status: number, reason: string, error: () => Error): Fault => {
  return { status, resumable: true, reason, ofStore: error };
};

const faults: Readonly<Record<string, Fault>> = {
  'the database becomes unavailable': ofStore(503, 'STORE_UNAVAILABLE', () => storeUnavailable()),
  'others write the same records': ofStore(409, 'STORE_CONTENTION', () => storeContention()),
  'the database fails': ofStore(500, 'STORE_FAILED', () => storeFailed({ reason: 'disk I/O error' })),
  'an unexpected error occurs': ofStore(500, 'INTERNAL_ERROR', () => new Error('unexpected')),
  'its token is revoked': {
    status: 401,
    resumable: true,
    reason: 'TOKEN_NOT_FOUND',
    strike: async (store, { userId }) => {
      await revokeTokens(store, userId);
      // The next check of the token.
      vi.advanceTimersByTime(3_000);
      for (let turn = 0; turn < 20; turn++) await setImmediate();
    },
  },
  'its object is replaced': { status: 409, resumable: false, reason: 'OBJECT_REPLACED', replacesObject: true },
};

describe('an import that fails after its first write', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
    vi.stubEnv('STORAGE_EMULATOR_HOST', local.url);
    return async () => {
      vi.unstubAllEnvs();
      await local.close();
    };
  });

  /** Puts the file into the bucket, and returns its reference in a request. */
  async function upload(bucket: ObjectStorage, path: string, content: object) {
    const { account } = local;
    const bytes = Buffer.from(JSON.stringify(content));
    await bucket.write({ bucket: 'exports', path, account }, inPieces(bytes), never);
    const key = { type: 'service_account', client_email: account.clientEmail, private_key: account.privateKey };
    const serviceaccount_json = Buffer.from(JSON.stringify(key)).toString('base64');
    return { bucket: 'exports', path, serviceaccount_json };
  }

  it.each(Object.entries(faults))('because %s reports what it has written', async (name, fault) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const bucket = createCloudStorage(local.url);
    const path = `${name}.json`;
    const source = await upload(bucket, path, file);
    const store = await openTestStore(sqlite);
    let hasStruck = false;
    const watched = watchedStore(store, async (writes) => {
      if (hasStruck || !writes.some(({ key }) => key.collection === 'users')) return;
      hasStruck = true;
      await fault.strike?.(store, instance);
      if (fault.replacesObject !== true) return;
      await openStorage(local.account, 'remove', local.url).bucket('exports').file(path).delete();
      await upload(bucket, path, { orgs: [] });
    });
    const unlessStruck = <Result>(work: () => Promise<Result>) =>
      hasStruck && fault.ofStore ? Promise.reject(fault.ofStore()) : work();
    const broken = decorateStore(watched, (inner) => ({
      commit: (writes) => unlessStruck(() => inner.commit(writes)),
      transaction: (work, until) => unlessStruck(() => inner.transaction(work, until)),
    }));
    // An object that does not fit into the memory for bodies is downloaded for each phase.
    const limits = fault.replacesObject === true ? { bufferedBytes: 20_000 } : {};
    const instance = await testInstance(store, 'test', { store: broken, objectStorage: bucket, limits });
    const { status, body } = await instance.refusedImport({ data_orgs_gcs: source });
    const { details } = progressBody.parse(body);
    expect({ status, details }).toEqual({
      status: fault.status,
      details: expect.arrayContaining([
        { '@type': PROGRESS, written: expect.anything(), total, resumable: fault.resumable },
        expect.objectContaining({ reason: fault.reason }),
      ]),
    });
    const written = details.find((detail) => detail['@type'] === PROGRESS)?.written ?? {};
    expect(written.humanUsers).toBeGreaterThan(0);
    expect(countsOf(await readDatabase(store), ['O'])).toEqual(written);
    const { token } = await issueToken(store, instance.userId, new Date(), DAY_MS);
    const again = servedInstance(store, { ...instance, token }, { objectStorage: bucket });
    const { errors } = await again.import({ data_orgs_gcs: source });
    expect(errors).toBeUndefined();
    expect(countsOf(await readDatabase(store), ['O'])).toEqual(fault.resumable ? total : written);
  });
});
