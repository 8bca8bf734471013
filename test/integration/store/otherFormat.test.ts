import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FORMAT, instanceKey } from '../../../shared/store/instance.ts';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { identity, identityJson } from '../../support/command.ts';
import { startLocal } from '../../support/instances/localStart.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { describeStores, keyEnvironment, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';

const message = `the database has format ${FORMAT - 1}, and this version needs format ${FORMAT}: run the version that wrote the database, or begin with an empty database`;

/** Initialises an instance, and gives it another format. */
async function instanceOfOtherFormat(kind: StoreKind): Promise<StoreLocation> {
  const location = await kind.newLocation();
  await identityJson(['init', ...databaseOptions(location), '--name', 'north'], { env: keyEnvironment(location) });
  const store = await openTestStore(kind, location);
  const body = JSON.stringify({ name: 'north', format: FORMAT - 1 });
  await store.commit([{ type: 'update', key: instanceKey, fields: { body } }]);
  return location;
}

describeStores('a database of another format', (kind) => {
  it('is rejected by every command, with a remedy', async () => {
    const location = await instanceOfOtherFormat(kind);
    const commands = [['serve', '--port', '0'], ['org', 'list'], ['init'], ['rekey']];
    for (const args of commands) {
      const ended = await identity([...args, ...databaseOptions(location)], { env: keyEnvironment(location) });
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    }
  });
});

describe('a local instance of another format', () => {
  it('is rejected by npm start, with a remedy', async () => {
    const location = await instanceOfOtherFormat(sqlite);
    if (location.kind !== 'sqlite') throw new Error('not a directory');
    const local = join(location.directory, 'local');
    await mkdir(join(local, 'source'), { recursive: true });
    for (const name of ['identity.sqlite', 'identity.sqlite-wal', 'master.key'])
      await rename(join(location.directory, name), join(local, 'source', name));
    await expect(startLocal({ directory: local })).rejects.toThrow(`ended with 1:\n${message}\n`);
  });
});
