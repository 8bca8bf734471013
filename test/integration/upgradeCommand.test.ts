import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FORMAT } from '../../shared/store/format.ts';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import { upgrade } from '../../shared/store/upgrade.ts';
import { identity, identityJson } from '../support/processes/programs.ts';
import { formatOne, writeFormerDatabase } from '../support/stores/formerDatabase.ts';
import { describeStores, keyEnvironment, openTestStore, type StoreKind, sqlite } from '../support/stores/stores.ts';

function database(location: StoreLocation): string[] {
  return location.kind === 'sqlite' ? ['--data', location.directory] : ['--firestore', location.projectId];
}

const environment = (location: StoreLocation) => ({ env: keyEnvironment(location) });

/** Makes a database of the former version; in Firestore its upgrade has begun, and ended with the wait. */
async function formerLocation(kind: StoreKind): Promise<StoreLocation> {
  const location = await kind.newLocation();
  if (location.kind === 'sqlite') await copyFile(formatOne.file, join(location.directory, 'identity.sqlite'));
  else {
    const store = await openTestStore(kind, location);
    await writeFormerDatabase(store, formatOne);
    const interrupted = new AbortController();
    const onStep = (name: string) => {
      if (!name.startsWith('waiting')) interrupted.abort();
    };
    const isEnded = expect(upgrade(store, { signal: interrupted.signal, onStep, fenceMs: 0 }));
    await isEnded.rejects.toMatchObject({ name: 'AbortError' });
  }
  return location;
}

describeStores('identity upgrade', (kind) => {
  it('migrates an older database, and lists the records that share a name, each time', async () => {
    const location = await formerLocation(kind);
    const args = ['upgrade', ...database(location)];
    const { code, stdout, stderr } = await identity(args, environment(location));
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `the database has format ${FORMAT}, migrated from format 1
2 records have names that other records hold: rename them by imports with on_conflict overwrite
organisation contradicted: users/bert2 has the name of users/bert
organisation mixed: users/emma has the name of users/emma2
`,
    });
    if (kind.name === 'Firestore') expect(stderr).toContain('claims of login names\n');
    else expect(stderr).toBe('');
    expect(await identityJson(args, environment(location))).toEqual({
      format: FORMAT,
      from: 1,
      sharedNameCount: 2,
      sharedNames: formatOne.sharedNames,
    });
  });

  it('says that a database of this version needs no migration', async () => {
    const location = await kind.newLocation();
    await identityJson(['init', ...database(location)]);
    expect(await identity(['upgrade', ...database(location)], environment(location))).toMatchObject({
      code: 0,
      stdout: `the database has format ${FORMAT}\n`,
      stderr: '',
    });
  });
});

describe('identity upgrade', () => {
  it('needs an instance', async () => {
    const location = database(await sqlite.newLocation());
    const { code, stderr } = await identity(['upgrade', ...location]);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('no instance in') });
  });
});
