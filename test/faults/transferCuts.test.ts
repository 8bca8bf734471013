import { beforeAll, describe, expect, it } from 'vitest';
import { createCloudStorage, openStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
import { inPieces } from '../support/fixtures/bytes.ts';
import { startTcpProxy } from '../support/http/tcpProxy.ts';
import { servedInstance, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { describeStores, openTestStore, sqlite } from '../support/stores/stores.ts';
import { watchedStore } from '../support/stores/watchedStore.ts';
import { faultTable } from './support/faultTable.ts';
import { changedMigration, migration } from './support/migration.ts';
import { objectRequest } from './support/objectRequest.ts';
import { randomOf } from './support/random.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const CUTS = repetitions({ few: 10, many: 200 });
/** A cut costs a pause before the next attempt, so this many run at once. */
const LANES = 8;
/** Objects do not fit into the memory for bodies, so an import downloads them for each phase. */
const limits = { bufferedBytes: 20_000 };
const never = new AbortController().signal;

let local: LocalBucket;
let expected: Undisturbed;
beforeAll(async () => {
  local = await startLocalBucket();
  expected = await undisturbed(migration(100));
  return () => local.close();
});

const storage = (apiEndpoint: string) => createCloudStorage(apiEndpoint);
const at = (path: string) => ({ bucket: 'exports', path, account: local.account });
const fileOf = ({ orgs }: Pick<Undisturbed, 'orgs'>) => Buffer.from(JSON.stringify({ orgs }));

/** Runs `cut` this many times in several lanes, each time with a number from 0 to 1. */
async function inLanes(name: string, cut: (point: number, index: number) => Promise<void>): Promise<void> {
  const random = randomOf(name);
  const indices = Array.from({ length: CUTS }, (_, index) => index);
  const lane = async () => {
    for (let index = indices.pop(); index !== undefined; index = indices.pop()) await cut(random(), index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

describe(faultTable['upload is cut'].fault, () => {
  it(faultTable['upload is cut'].outcome, async (context) => {
    const store = await openTestStore(sqlite);
    const filled = await testInstance(store);
    await filled.import(expected.body);
    const bytes = Buffer.from((await filled.export()).bytes);
    let broken = 0;
    await inLanes('cuts of uploads', async (point, index) => {
      const network = await startTcpProxy(local.url);
      try {
        network.cut('up', Math.floor(point * bytes.length));
        const path = `upload ${index}.json`;
        const written = await storage(network.url).write(at(path), inPieces(bytes), never);
        const direct = await storage(local.url).pin(at(path), never);
        expect(written).toMatchObject({ size: bytes.length, generation: direct.generation });
        broken += network.connections() > 1 ? 1 : 0;
      } finally {
        await network.close();
      }
    });
    expect(broken).toBeGreaterThan(CUTS / 2);
    survived(context, 'upload is cut', 'Cloud Storage', broken);
  });
});

describe(faultTable['download is cut'].fault, () => {
  it(faultTable['download is cut'].outcome, async (context) => {
    const file = fileOf(expected);
    await storage(local.url).write(at('download.json'), inPieces(file), never);
    const request = { data_orgs_gcs: await objectRequest(local, 'download.json'), with_keys: true };
    // The import reads the file once to check it, and once in each of three phases.
    const READINGS = 4;
    await inLanes('cuts of downloads', async (point) => {
      const network = await startTcpProxy(local.url);
      try {
        const store = await openTestStore(sqlite);
        const instance = await testInstance(store, 'test', { objectStorage: storage(network.url), limits });
        network.cut('down', Math.floor(point * file.length * READINGS));
        const { status, text } = await instance.attempt('import', request);
        expect(status, text).toBe(200);
        expectAllIn(text, expected);
        await expectSound(store, expected);
        expect(network.isSpent()).toBe(true);
      } finally {
        await network.close();
      }
    });
    survived(context, 'download is cut', 'Cloud Storage', CUTS);
  });
});

describeStores(faultTable['object is replaced'].fault, (kind) => {
  it(faultTable['object is replaced'].outcome, async (context) => {
    const bucket = openStorage(local.account, 'write', local.url).bucket('exports');
    const other = fileOf(changedMigration(expected));
    const path = `replaced ${kind.name}.json`;
    await storage(local.url).write(at(path), inPieces(fileOf(expected)), never);
    let replacing: Promise<unknown> | undefined;
    const replace = async () => {
      await bucket.file(path).delete();
      await storage(local.url).write(at(path), inPieces(other), never);
    };
    const store = await openTestStore(kind);
    const writing = watchedStore(store, () => {
      replacing ??= replace();
      return replacing;
    });
    const instance = await testInstance(store, 'test', { store: writing, objectStorage: storage(local.url), limits });
    const request = { data_orgs_gcs: await objectRequest(local, path), with_keys: true };
    const { status, text } = await instance.attempt('import', request);
    expect(status, text).toBe(409);
    expect(text).toContain('was replaced or deleted during the import: upload the same file again');
    const present = await expectSound(store, expected);
    expect(present.size).toBeGreaterThan(0);
    expect((await servedInstance(store, instance).attempt('import', expected.body)).status).toBe(200);
    await expectComplete(store, expected);
    survived(context, 'object is replaced', 'Cloud Storage', 1);
  });
});
