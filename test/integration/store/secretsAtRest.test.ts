import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routes as removalRoutes } from '../../../functions/removeOtpEmail/app.ts';
import { createApp } from '../../../shared/http/app.ts';
import { isJsonObject, type JsonObject, valueAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { storedFieldNames } from '../../../shared/store/documentFields.ts';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { secretCollections } from '../../../shared/store/secrets/sealedFields.ts';
import type { Store } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { identityJson } from '../../support/command.ts';
import { type Organisation, organisation, person, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { rawContent } from '../../support/stores/rawContent.ts';
import { describeStores, openTestStore, sqlite } from '../../support/stores/stores.ts';

const orgs = [
  ...zitadelRequest('import-request'),
  organisation('more', {
    humanUsers: [
      person('totp', { otpCode: 'MFRGGZDFMZTWQ2LKNNWG23TP' }),
      person('odd', { otpCode: 'not base32: ä😀 "quoted"' }),
    ],
    oidcIdps: [
      {
        idpId: 'moreIdp',
        idp: { name: 'p', clientId: 'c', clientSecret: 'more-client-secret', issuer: 'https://i.example' },
      },
    ],
  }),
];

/** The recoverable secrets of organisations: all credentials except password hashes, and clear passwords. */
function secretsOf(organisations: readonly Organisation[]): string[] {
  return sections.flatMap(({ name, credentials = [] }) => {
    const recoverable = credentials.filter(({ field }) => field !== 'passwordHash').map(({ path }) => path);
    const all = [...recoverable, ...credentials.flatMap(({ clear = [] }) => clear)];
    const records = organisations
      .flatMap((one): unknown => one[name] ?? [])
      .flat()
      .filter(isJsonObject);
    return records.flatMap((record: JsonObject) => all.flatMap((path) => textAt(record, path)));
  });
}

function textAt(record: JsonObject, path: string): string[] {
  const value = valueAt(record, path);
  return typeof value === 'string' ? [value] : [];
}

/** Finds the texts in a raw content, as UTF-8 or as JSON writes them. */
function findIn(raw: string, texts: readonly string[]): string[] {
  const forms = (text: string) => [text, Buffer.from(text).toString('latin1'), JSON.stringify(text).slice(1, -1)];
  return texts.filter((text) => forms(text).some((form) => raw.includes(form)));
}

async function filledStore(location: StoreLocation, store: Store) {
  const instance = await testInstance(store);
  await instance.import({ dataOrgs: { orgs }, with_keys: true });
  // Another import replaces some secrets, and the old values must not remain either.
  const replaced = [organisation('more', { humanUsers: [person('totp', { otpCode: 'KRSXG5CTMVRXEZLU' })] })];
  await instance.import({ dataOrgs: { orgs: replaced }, on_conflict: 'overwrite' });
  return { instance, location, secrets: [...secretsOf(orgs), ...secretsOf(replaced)] };
}

describeStores('the stored secrets', (kind) => {
  it('of an import with every section appear nowhere in the raw database', async () => {
    const location = await kind.newLocation();
    const { instance, secrets } = await filledStore(location, await openTestStore(kind, location));
    expect(secrets).toEqual(expect.arrayContaining(['JBSWY3DPEHPK3PXP', 'google-secret', 'Secret1!bob']));
    const raw = await rawContent(location);
    // A value that is not secret is found, so the search works.
    expect(findIn(raw, ['name of totp', 'not a text of it'])).toEqual(['name of totp']);
    expect(findIn(raw, secrets)).toEqual([]);
    const { bytes } = await instance.export();
    const gone = ['MFRGGZDFMZTWQ2LKNNWG23TP', 'Secret1!bob'];
    expect(findIn(bytes, secrets)).toEqual(secrets.filter((text) => !gone.includes(text)));
  });

  it('are exported as they were imported, and the same import changes nothing', async () => {
    const { instance } = await filledStore(await kind.newLocation(), await openTestStore(kind));
    const [first] = orgs;
    const { orgs: exported } = await instance.export({ org_ids: [first?.orgId] });
    expect(JSON.stringify(exported)).toContain('JBSWY3DPEHPK3PXP');
    const { summary } = await instance.import({ dataOrgs: { orgs: exported }, with_keys: true });
    expect(summary).toMatchObject({ created: {}, failed: {} });
  });

  it('are read in transactions, snapshots, scans and by key, and only if they are requested', async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('a', { totpSeed: 'SEED', state: 'x' }), createUser('b', { clientSecret: '' })]);
    const keys = [userKey('a'), userKey('b')];
    const expected = [{ totpSeed: 'SEED', state: 'x' }, { clientSecret: '' }];
    const all = expected.map((fields, index) => ({ id: keys[index]?.id, ...fields }));
    expect(await store.getMany(keys)).toEqual(all);
    expect(await store.getMany(keys, ['totpSeed'])).toEqual([{ id: all[0]?.id, totpSeed: 'SEED' }, { id: all[1]?.id }]);
    expect(await store.getMany(keys, ['state'])).toEqual([{ id: all[0]?.id, state: 'x' }, { id: all[1]?.id }]);
    expect(await store.transaction(({ getMany }) => getMany(keys))).toEqual(all);
    await using snapshot = await store.snapshot();
    expect(await snapshot.getMany(keys)).toEqual(all);
    expect((await readDatabase(store)).get('users')?.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      all.toSorted((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1)),
    );
  });

  it('change and disappear with an update, in a transaction too', async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('a', { totpSeed: 'FIRST', clientSecret: 'kept' })]);
    await store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('a')]);
      write([{ type: 'update', key: userKey('a'), fields: { totpSeed: 'SECOND' } }]);
    });
    expect(await store.getMany([userKey('a')])).toMatchObject([{ totpSeed: 'SECOND', clientSecret: 'kept' }]);
    await store.commit([{ type: 'update', key: userKey('a'), fields: { totpSeed: null } }]);
    const [user] = await store.getMany([userKey('a')], storedFieldNames);
    expect(user).toEqual({ id: userKey('a').id, sealedClientSecret: expect.any(String) });
  });

  it('decrypt in their own document and field only', async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('a', { totpSeed: 'SEED', clientSecret: 'other' }), createUser('b')]);
    const [a] = await store.getMany([userKey('a')], ['sealedTotpSeed', 'sealedClientSecret']);
    const move = async (name: string, fields: object) => {
      await store.commit([{ type: 'update', key: userKey(name), fields }]);
      return store.getMany([userKey(name)], ['totpSeed']);
    };
    const { sealedTotpSeed = '', sealedClientSecret } = a ?? {};
    await expect(move('b', { sealedTotpSeed })).rejects.toThrow(
      'the value was changed, or copied from another document',
    );
    await expect(move('a', { sealedTotpSeed: sealedClientSecret })).rejects.toThrow('copied from another document');
    // Its first digit represents six bits of the nonce; the last one has unused bits.
    const changed = sealedTotpSeed.replace(/\.(.)/, (_, digit) => (digit === 'A' ? '.B' : '.A'));
    await expect(move('a', { sealedTotpSeed: changed })).rejects.toThrow('the value was changed');
    expect(await move('a', { sealedTotpSeed })).toEqual([{ id: userKey('a').id, totpSeed: 'SEED' }]);
  });

  it('are not needed by the list of authentication methods, which works without a master key', async () => {
    const location = await kind.newLocation();
    const store = await openTestStore(kind, location);
    const { token } = await testInstance(store);
    await store.commit([{ type: 'create', key: userKey('totp'), fields: { orgId: 'o', totpSeed: 'SEED' } }]);
    const { masterKey: _, ...withoutKey } = location;
    const removal = await openTestStore(kind, withoutKey);
    const app = createApp({
      routes: removalRoutes({ store: removal, audit: memoryTrail().audit, now: () => new Date() }),
    });
    const headers = { authorization: `Bearer ${token}` };
    const response = await app.request('/v2/users/totp/authentication_methods', { headers });
    expect(await response.json()).toMatchObject({ authMethodTypes: ['AUTHENTICATION_METHOD_TYPE_TOTP'] });
  });
});

describe('the collections with secrets', () => {
  it('are those of the sections that have credentials other than hashes', () => {
    const collections = sections.flatMap(({ collection, credentials = [] }) =>
      credentials.some(({ field }) => field !== 'passwordHash') ? [collection] : [],
    );
    expect(new Set(secretCollections)).toEqual(new Set(collections));
  });
});

describe('a backup', () => {
  it('contains no secret, and no part of the key', async () => {
    const location = await sqlite.newLocation();
    if (location.kind !== 'sqlite') throw new Error('not a directory');
    const { secrets } = await filledStore(location, await openTestStore(sqlite, location));
    const file = join(location.directory, 'copy.backup');
    await identityJson(['backup', file, '--data', location.directory]);
    const raw = await readFile(file, 'latin1');
    const [key = ''] = (await readFile(join(location.directory, 'master.key'), 'utf8')).split('\n').slice(-2);
    expect(key).toHaveLength(44);
    expect(findIn(raw, ['name of totp', key, ...secrets])).toEqual(['name of totp']);
  });
});
