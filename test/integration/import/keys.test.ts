import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { organisation, zitadelExport } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const EXPIRES = '2099-01-01T00:00:00Z';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keysIn = (orgs: readonly Record<string, unknown>[]) =>
  orgs.flatMap(({ machineKeys = [], appKeys = [] }) => [machineKeys, appKeys].flat());

/** An organisation whose service user has the keys. */
function withKeys(keys: Readonly<Record<string, string>>, expirationDate = EXPIRES) {
  return organisation('O', {
    machineUsers: [{ userId: 'robot', user: { userName: 'robot', name: 'Robot' } }],
    machineKeys: Object.entries(keys).map(([keyId, pem]) => ({
      keyId,
      userId: 'robot',
      type: 'KEY_TYPE_JSON',
      expirationDate,
      publicKey: Buffer.from(pem).toString('base64'),
    })),
  });
}

afterEach(() => void vi.useRealTimers());

describe('keys', () => {
  it('that have expired since an import are unchanged in a later import of the same file, and refused elsewhere', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const elsewhere = await testInstance(await openTestStore(sqlite));
    const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
    const expires = Date.now() + 60_000;
    const orgs = [withKeys({ key: pem }, new Date(expires).toISOString())];
    const request = { with_keys: true, data_orgs: { orgs } };
    expect((await instance.import(request)).errors).toBeUndefined();
    vi.useFakeTimers({ toFake: ['Date'], now: expires + 60_000 });
    const { errors, summary } = await instance.import(request);
    expect({ errors, unchanged: summary.unchanged.machineKeys }).toEqual({ errors: undefined, unchanged: 1 });
    const refused = await elsewhere.import(request);
    expect(refused.errors).toMatchObject([{ id: 'key', message: expect.stringContaining('ID=DOMAIN-dv3t5 ') }]);
  });

  it('that ZITADEL generated are imported, and exported byte for byte', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const orgs = zitadelExport('export-made-by-api');
    const { errors = [], summary } = await instance.import({ with_keys: true, data_orgs: { orgs } });
    expect(errors.filter(({ type }) => type === 'machine_user_key' || type === 'app_key')).toEqual([]);
    expect(summary.created).toMatchObject({ machineKeys: 2, appKeys: 1 });
    expect(keysIn((await instance.export()).orgs)).toEqual(expect.arrayContaining(keysIn(orgs)));
  });

  it('of both encodings are imported under either label, and private keys under none', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const spki = String(publicKey.export({ type: 'spki', format: 'pem' }));
    const pkcs1 = String(publicKey.export({ type: 'pkcs1', format: 'pem' }));
    const secret = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const relabelled = (pem: string, from: string, to: string) => pem.replaceAll(` ${from}-`, ` ${to}-`);
    const valid = withKeys({
      spki,
      'spki relabelled': relabelled(spki, 'PUBLIC KEY', 'RSA PUBLIC KEY'),
      pkcs1,
      'pkcs1 relabelled': relabelled(pkcs1, 'RSA PUBLIC KEY', 'PUBLIC KEY'),
    });
    const invalid = withKeys({
      secret,
      'secret relabelled': relabelled(secret, 'PRIVATE KEY', 'PUBLIC KEY'),
      text: 'key',
    });
    const orgs = [{ ...valid, machineKeys: [valid.machineKeys, invalid.machineKeys].flat() }];
    const { errors, reasons } = await instance.import({ with_keys: true, data_orgs: { orgs } });
    const message = 'ID=COMMAND-5F3h1 Message=Errors.User.Machine.Key.Invalid';
    const refused = ['secret', 'secret relabelled', 'text'].map((id) => ({ type: 'machine_user_key', id, message }));
    expect(errors).toEqual(refused);
    expect(reasons.map(({ params }) => params?.problem)).toEqual([
      'it is a private key',
      'its content is damaged, or of a type that ZITADEL does not know',
      'it has no line -----BEGIN PUBLIC KEY-----',
    ]);
    expect(keysIn((await instance.export()).orgs)).toEqual(expect.arrayContaining(keysIn([valid])));
    expect(keysIn((await instance.export()).orgs)).toHaveLength(4);
  });

  it('of an application stay when it gets a method without keys, as in ZITADEL', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const orgs = zitadelExport('export-made-by-api');
    await instance.import({ with_keys: true, data_orgs: { orgs } });
    const changed = JSON.parse(JSON.stringify(orgs).replaceAll('_METHOD_TYPE_PRIVATE_KEY_JWT', '_METHOD_TYPE_BASIC'));
    const { summary } = await instance.import({ on_conflict: 'overwrite', data_orgs: { orgs: changed } });
    expect(summary.overwritten).toEqual({ oidcApps: 1 });
    expect(keysIn((await instance.export()).orgs)).toEqual(expect.arrayContaining(keysIn(orgs)));
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});
