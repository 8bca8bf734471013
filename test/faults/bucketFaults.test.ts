import { beforeAll, describe, expect, it } from 'vitest';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
import { collect, inPieces } from '../support/fixtures/bytes.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { type FaultName, faultTable } from './support/faultTable.ts';
import { type BucketOperation, faultyBucket } from './support/faultyBucket.ts';
import type { FaultKind } from './support/injection.ts';
import { migration } from './support/migration.ts';
import { objectRequest } from './support/objectRequest.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const everies = repetitions({ few: [1, 2], many: [1, 2, 3, 5, 8] });
const FAULTY_CALLS = 4;
const never = new AbortController().signal;

type Case = readonly [name: FaultName, operation: BucketOperation, kind: FaultKind];

const writes: readonly Case[] = [
  ['write fails', 'write', 'fails'],
  ['write fails', 'content', 'fails'],
  ['write is lost', 'write', 'is lost'],
  ['write is delayed', 'write', 'is delayed'],
];
const reads: readonly Case[] = [
  ['pin fails', 'pin', 'fails'],
  ['read fails', 'read', 'fails'],
  ['read is delayed', 'read', 'is delayed'],
];

describe('a bucket', () => {
  let local: LocalBucket;
  let expected: Undisturbed;
  beforeAll(async () => {
    local = await startLocalBucket();
    expected = await undisturbed(migration(100));
    return () => local.close();
  });

  const storage = () => createCloudStorage(local.url);
  const at = (path: string) => ({ bucket: 'exports', path, account: local.account });
  const read = async (path: string) => (await collect((await storage().pin(at(path), never)).read(never))).toString();

  for (const [name, operation, kind] of writes) {
    it(`of which ${faultTable[name].fault} (${operation}): ${faultTable[name].outcome}`, async (context) => {
      let times = 0;
      for (const every of everies) {
        const { bucket, injection } = faultyBucket(storage(), { operation, kind, every });
        const instance = await testInstance(await openTestStore(sqlite), 'test', { objectStorage: bucket });
        await instance.import(expected.body);
        const pathOf = (call: number) => `${name} ${operation} ${every} ${call}.json`;
        const exportTo = async (path: string) =>
          instance.attempt('export', { ...everything(instance.orgId), gcs_output: await objectRequest(local, path) });
        injection.begin();
        for (let call = 0; call < FAULTY_CALLS; call++) {
          const before = injection.struck;
          const { status, text } = await exportTo(pathOf(call));
          const isRefused = injection.struck > before && kind !== 'is delayed';
          expect(status, text).toBe(isRefused ? 503 : 200);
          const isThere = !isRefused || kind === 'is lost';
          if (isThere) expect(await read(pathOf(call))).toContain(expected.digest);
          else await expect(storage().pin(at(pathOf(call)), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
          injection.end();
          expect((await exportTo(pathOf(call))).status).toBe(isThere ? 409 : 200);
          expect(await read(pathOf(call))).toContain(expected.digest);
          injection.begin();
        }
        times += injection.struck;
      }
      survived(context, name, 'Cloud Storage', times);
    });
  }

  for (const [name, operation, kind] of reads) {
    it(`of which ${faultTable[name].fault}: ${faultTable[name].outcome}`, async (context) => {
      const path = `${name}.json`;
      await storage().write(at(path), inPieces(Buffer.from(JSON.stringify({ orgs: expected.orgs }))), never);
      let times = 0;
      for (const every of everies) {
        const { bucket, injection } = faultyBucket(storage(), { operation, kind, every });
        const store = await openTestStore(sqlite);
        const instance = await testInstance(store, 'test', { objectStorage: bucket });
        const body = { data_orgs_gcs: await objectRequest(local, path), with_keys: true };
        injection.begin();
        for (let call = 1; ; call++) {
          if (call > FAULTY_CALLS) injection.end();
          const { status, text } = await instance.attempt('import', body);
          await expectSound(store, expected);
          const isDone = status === 200 || call > FAULTY_CALLS || kind === 'is delayed';
          expect(status, text).toBe(isDone ? 200 : 503);
          if (!isDone) continue;
          expectAllIn(text, expected);
          break;
        }
        await expectComplete(store, expected);
        times += injection.struck;
      }
      survived(context, name, 'Cloud Storage', times);
    });
  }
});

function everything(defaultOrganisation: string): object {
  return { excluded_org_ids: [defaultOrganisation], with_passwords: true, with_otp: true, with_keys: true };
}
