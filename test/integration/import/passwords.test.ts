import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ImportSettings } from '../../../functions/import/context.ts';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { hashPassword, verifyPassword } from '../../../shared/auth/passwordHashing.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { documentId, type Store, type TransactionWork } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore, withSmallCommits } from '../../support/stores/watchedStore.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock(import('../../../shared/auth/passwordHashing.ts'), async (original) => {
  const { hashPassword, verifyPassword } = await original();
  return { hashPassword: vi.fn(hashPassword), verifyPassword: vi.fn(verifyPassword) };
});

const PEOPLE = 6;
const file = (password: string, people = PEOPLE) => [
  organisation('O', { humanUsers: Array.from({ length: people }, (_, index) => person(`P${index}`, { password })) }),
];
/** The lowest cost of bcrypt, which keeps tests fast. */
const fast = 4;
let imports = 0;

function runFile(store: Store, orgs: readonly object[], options: ImportSettings = {}, signal?: AbortSignal) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
  const usual = { withKeys: false, onConflict: 'overwrite', bcryptCost: fast } as const;
  const stamp = `2026-01-01T00:00:00.0000${String(imports++).padStart(2, '0')}Z`;
  return importOrganisations(store, source, { ...usual, ...options }, stamp, signal ?? new AbortController().signal);
}

function run(store: Store, password: string) {
  return runFile(store, file(password));
}

/** A store that decides twice, as after a conflict with another writer. `between` runs between the attempts. */
function decidingTwice(store: Store, between: () => Promise<void>): Store {
  return withSmallCommits(store, (inner) => ({
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      await inner.transaction<Result>((transaction, earlier) => work({ ...transaction, write: () => {} }, earlier));
      await between();
      return inner.transaction(work, until);
    },
  }));
}

describe('changed clear passwords', () => {
  beforeEach(() => {
    vi.mocked(hashPassword).mockClear();
    vi.mocked(verifyPassword).mockClear();
  });

  it('are hashed and compared once, although the records are decided twice', async () => {
    const store = await openTestStore(sqlite);
    await run(store, 'Password1!');
    vi.mocked(hashPassword).mockClear();
    const { summary } = await run(
      decidingTwice(store, async () => {}),
      'Password2!',
    );
    expect(summary.overwritten).toEqual({ humanUsers: PEOPLE });
    expect(vi.mocked(hashPassword).mock.calls.length).toBe(PEOPLE);
    expect(vi.mocked(verifyPassword).mock.calls.length).toBe(PEOPLE);
  });

  it('are compared again only if the stored hash changed between two attempts', async () => {
    const store = await openTestStore(sqlite);
    await run(store, 'Password1!');
    vi.mocked(verifyPassword).mockClear();
    const passwordHash = await hashPassword('Password2!');
    const change = async () => {
      if (vi.mocked(verifyPassword).mock.calls.length === 0) return;
      await store.commit([
        { type: 'update', key: { collection: 'users', id: documentId('P3') }, fields: { passwordHash } },
      ]);
    };
    const { summary } = await run(decidingTwice(store, change), 'Password2!');
    expect(summary).toMatchObject({ overwritten: { humanUsers: PEOPLE - 1 }, unchanged: { org: 1, humanUsers: 1 } });
    expect(verifyPassword).toHaveBeenCalledTimes(PEOPLE + 1);
  });
});

/** The stored hashes of the people in `file`, in their order. */
async function storedHashes(store: Store, people = PEOPLE): Promise<string[]> {
  const keys = Array.from(
    { length: people },
    (_, index) => ({ collection: 'users', id: documentId(`P${index}`) }) as const,
  );
  return (await store.getMany(keys, ['passwordHash'])).map((document) => document?.passwordHash ?? '');
}

describe('clear passwords', () => {
  it('are stored as bcrypt of cost 12, which every ZITADEL verifies', async () => {
    const store = await openTestStore(sqlite);
    await runFile(store, file('Password1!', 2), { bcryptCost: undefined });
    const hashes = await storedHashes(store, 2);
    expect(hashes).toEqual([expect.stringMatching(/^\$2b\$12\$.{53}$/), expect.stringMatching(/^\$2b\$12\$.{53}$/)]);
    expect(new Set(hashes).size).toBe(2);
    expect(await verifyPassword('Password1!', hashes[1] ?? '')).toBe(true);
  });

  it('keep their hashes if another cost is configured later', async () => {
    const store = await openTestStore(sqlite);
    await runFile(store, file('Password1!'));
    const hashes = await storedHashes(store);
    const { summary } = await runFile(store, file('Password1!'), { bcryptCost: fast + 1 });
    expect(summary).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: PEOPLE }, failed: {} });
    expect(await storedHashes(store)).toEqual(hashes);
    expect(hashes.filter((hash) => !/^\$2b\$04\$/.test(hash))).toEqual([]);
  });

  it('must meet the policy and the limit of bcrypt, even beside a hash', async () => {
    const store = await openTestStore(sqlite);
    const hashedPassword = { value: '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy' };
    const longest = `Aa1!${'x'.repeat(68)}`;
    const humanUsers = [
      person('A', { password: longest }),
      person('B', { password: `${longest}x` }),
      person('C', { password: `${longest}x`, hashedPassword }),
      person('D', { password: 'weak', hashedPassword }),
      person('E', { password: 'Strong1!', hashedPassword }),
    ];
    const { errors, summary } = await runFile(store, [organisation('O', { humanUsers })]);
    const tooLong = { type: 'human_user', message: 'bcrypt: password length exceeds 72 bytes' };
    const tooShort = 'ID=DOMAIN-HuJf6 Message=Errors.User.PasswordComplexityPolicy.MinLength';
    expect(errors).toMatchObject([
      { ...tooLong, id: 'B' },
      { ...tooLong, id: 'C' },
      { type: 'human_user', id: 'D', message: tooShort },
    ]);
    expect(summary).toMatchObject({ created: { humanUsers: 2 }, failed: { humanUsers: 3 } });
  });

  it('follow the default policy if that of the file is rejected', async () => {
    const store = await openTestStore(sqlite);
    const policy = { passwordComplexityPolicy: { minLength: '73' } };
    const people = { humanUsers: [person('A', { password: 'weak' }), person('B', { password: 'Strong1!' })] };
    const { errors, summary } = await runFile(store, [organisation('O', { ...policy, ...people })]);
    expect(errors?.map(({ type, message }) => [type, message])).toEqual([
      ['password_complexity_policy', 'ID=MODEL-Lsp0e Message=Errors.User.PasswordComplexityPolicy.MinLengthNotAllowed'],
      ['human_user', 'ID=DOMAIN-HuJf6 Message=Errors.User.PasswordComplexityPolicy.MinLength'],
    ]);
    expect(summary.created).toMatchObject({ humanUsers: 1 });
  });
});

describe('an import of many clear passwords whose timeout expires', () => {
  it('drops the hashes that have not begun, and resumes behind the stored batches', async () => {
    const people = 200;
    const store = await openTestStore(sqlite);
    const controller = new AbortController();
    // Further batches are in flight when the first one is stored.
    const watched = watchedStore(store, (writes) => {
      if (writes.some(({ key }) => key.collection === 'users')) controller.abort(deadlineExceeded());
    });
    const bcryptCost = 7;
    vi.mocked(hashPassword).mockClear();
    const failed = await runFile(watched, file('Password1!', people), { bcryptCost }, controller.signal).catch(
      (reason: unknown) => reason,
    );
    expect(failed).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: [{ resumable: true }] });
    const results = vi.mocked(hashPassword).mock.settledResults;
    expect(results.filter(({ type }) => type === 'rejected').length).toBeGreaterThan(24);
    const written = (await storedHashes(store, people)).filter((hash) => hash !== '').length;
    expect(written).toBeGreaterThanOrEqual(24);
    expect(written).toBeLessThan(4 * 24);
    const { summary } = await runFile(store, file('Password1!', people));
    expect(summary).toMatchObject({ unchanged: { humanUsers: written }, created: { humanUsers: people - written } });
  });
});
