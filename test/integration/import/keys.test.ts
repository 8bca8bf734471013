import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { organisation } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const EXPIRES = '2099-01-01T00:00:00Z';
const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

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
});
