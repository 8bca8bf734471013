import { describe, expect, it } from 'vitest';
import type { Limits } from '../../../shared/limits.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { countsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const clear = (userId: string) => {
  const { user, ...rest } = person(userId);
  return { ...rest, user: { ...user, password: 'Password1!' } };
};
const people = (count: number, of: (userId: string) => object) =>
  Array.from({ length: count }, (_, index) => of(`user ${index}`));

/** Files of a size, and the limit on it. */
const kinds: readonly [string, keyof Limits, (size: number) => object, RegExp][] = [
  [
    'organisations',
    'organisations',
    (size) => ({ data_orgs: { orgs: Array.from({ length: size }, (_, index) => organisation(`o${index}`)) } }),
    /more than 3 organisations of a file: export fewer organisations/,
  ],
  [
    'empty entries',
    'organisations',
    (size) => ({ data_orgs: { orgs: Array.from({ length: size }, () => ({})) } }),
    /more than 3 organisations of a file: export fewer organisations/,
  ],
  [
    'clear passwords',
    'clearPasswords',
    (size) => ({ data_orgs: { orgs: [organisation('o', { humanUsers: people(size, clear) })] } }),
    /more than 3 clear passwords of an import: hash the passwords before the import/,
  ],
  [
    'records of a dry run',
    'dryRunRecords',
    (size) => ({ data_orgs: { orgs: [organisation('o', { humanUsers: people(size, person) })] }, dry_run: true }),
    /more than 3 records of a dry run: import fewer organisations of the file/,
  ],
];

describe('an import at a limit', () => {
  it.each(kinds)(
    'accepts as many %s as it allows, and rejects one more before it writes',
    async (_what, name, file, message) => {
      const store = await openTestStore(sqlite);
      const instance = await testInstance(store, 'test', { limits: { [name]: 3 } });
      const { status, text } = await instance.attempt('import', file(4));
      expect(JSON.parse(text)).toMatchObject({ code: 8, message: expect.stringMatching(message) });
      expect(status).toBe(413);
      const orgIds = Array.from({ length: 4 }, (_, index) => `o${index}`);
      expect(countsOf(await readDatabase(store), [...orgIds, 'o'])).toEqual({});
      for (const size of [2, 3]) expect((await instance.attempt('import', file(size))).status).toBe(200);
    },
  );

  it('counts only the organisations that the request selects', async () => {
    const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { clearPasswords: 3 } });
    const orgs = [
      organisation('a', { humanUsers: people(3, (id) => clear(`a ${id}`)) }),
      organisation('b', { humanUsers: people(3, (id) => clear(`b ${id}`)) }),
    ];
    for (const { orgId } of orgs)
      expect((await instance.import({ data_orgs: { orgs }, org_ids: [orgId] })).errors).toBeUndefined();
  });

  it('does not count records twice if an organisation’s id follows them', async () => {
    const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { clearPasswords: 3 } });
    const { orgId, ...rest } = organisation('late', { humanUsers: people(3, clear) });
    expect((await instance.import({ data_orgs: { orgs: [{ ...rest, orgId }] } })).errors).toBeUndefined();
  });

  it.each(['import', 'export'] as const)('rejects a timeout of an %s above the longest', async (operation) => {
    const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { timeoutMs: 60_000 } });
    const usual = operation === 'import' ? { data_orgs: { orgs: [] } } : { response_output: true };
    const attempt = (timeout: string) => instance.attempt(operation, { ...usual, timeout });
    for (const timeout of ['59.999s', '60s']) expect((await attempt(timeout)).status).toBe(200);
    const { status, text } = await attempt('60.001s');
    expect([status, text]).toEqual([400, expect.stringContaining('timeout')]);
  });

  it('exports to a response of the maximum size, and no larger', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const body = { response_output: true };
    const { length } = Buffer.from((await instance.attempt('export', body)).text);
    for (const [responseBytes, expected] of [
      [length + 1, 200],
      [length, 200],
      [length - 1, 400],
    ] as const) {
      const limited = servedInstance(store, instance, { limits: { responseBytes } });
      const { status, text } = await limited.attempt('export', body);
      expect(status).toBe(expected);
      if (expected === 400) expect(text).toContain('gcs_output');
    }
  });

  it('accepts a request, a file and an organisation of up to 100,000 fields', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const filler = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
    const importing = (fields: number) => [
      { data_orgs: { orgs: [] }, ...filler(fields - 1) },
      { data_orgs: { orgs: [], ...filler(fields - 1) } },
      { data_orgs: { orgs: [{ ...organisation('o'), ...filler(fields - 3) }] } },
    ];
    const [accepted] = importing(100_000);
    expect(await instance.attempt('import', accepted)).toMatchObject({ status: 200 });
    for (const request of importing(100_001)) {
      const text = expect.stringContaining('more than 100000 fields');
      expect(await instance.attempt('import', request)).toMatchObject({ status: 400, text });
    }
  });
});
