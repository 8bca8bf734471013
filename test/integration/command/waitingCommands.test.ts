import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { organisationKey } from '../../../shared/store/documentKeys.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

describeStores('commands that wait for the lock of an instance', (kind) => {
  it.each([
    ['an import', 'alone', ['import', 'FILE'], 'created'],
    ['an overwriting import', 'shared', ['import', 'FILE', '--on-conflict', 'overwrite'], 'created'],
    ['a deletion', 'shared', ['org', 'delete', 'A', '--yes'], 'deleted'],
  ] as const)('%s begins when the operation that holds it (%s) has ended', async (_what, mode, call, done) => {
    const location = await kind.newLocation();
    const store = await openTestStore(kind, location);
    const instance = await testInstance(store);
    const directory = await temporaryDirectory();
    await using _cleanUp = { [Symbol.asyncDispose]: () => directory.remove() };
    const file = join(directory.path, 'file.json');
    await writeFile(file, JSON.stringify({ orgs: [organisation('A')] }));
    const isImport = done === 'created';
    if (!isImport) await instance.import({ data_orgs: { orgs: [organisation('A')] } });
    const { signal } = new AbortController();
    const held = await store.lock.take({ mode, operation: 'rekey', caller: 'ada', signal });
    const { promise: waits, resolve } = Promise.withResolvers<void>();
    const onStderr = (text: string) => {
      if (/waiting for another operation to end: rekey, which ada began at \S+Z$/m.test(text)) resolve();
    };
    const place = isImport ? ['--to', placeOfLocation(location)] : databaseOptions(location);
    const args = [...call.map((arg) => (arg === 'FILE' ? file : arg)), ...place];
    const env = { IDENTITY_MASTER_KEY: location.masterKey };
    const ended = identity(args, { env, onStderr });
    await Promise.race([waits, ended.then((output) => expect.unreachable(JSON.stringify(output)))]);
    const reader = await openStore(location);
    const isStored = async () => (await reader.getMany([organisationKey('A')]))[0] !== undefined;
    expect(await isStored()).toBe(!isImport);
    await held[Symbol.asyncDispose]();
    expect(await ended).toMatchObject({ code: 0 });
    expect(await isStored()).toBe(isImport);
    await reader.close();
  });
});
