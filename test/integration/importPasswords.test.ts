import { beforeEach, expect, it, vi } from 'vitest';
import { importOrganisations } from '../../functions/import/operation.ts';
import { hashPassword, verifyPassword } from '../../shared/auth/password.ts';
import { documentId, type Store } from '../../shared/store/store.ts';
import { inPieces } from '../support/fixtures/bytes.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';
import { watchedStore } from '../support/stores/watchedStore.ts';

vi.mock(import('../../shared/auth/password.ts'), async (original) => {
  const { hashPassword, verifyPassword } = await original();
  return { hashPassword: vi.fn(hashPassword), verifyPassword: vi.fn(verifyPassword) };
});

const PEOPLE = 20;
const file = (password: string) => [
  organisation('O', { humanUsers: Array.from({ length: PEOPLE }, (_, index) => person(`P${index}`, { password })) }),
];
let imports = 0;

function run(store: Store, password: string) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: file(password) }))) };
  const options = { withKeys: false, onConflict: 'overwrite' } as const;
  const stamp = `2026-01-01T00:00:00.0000${String(imports++).padStart(2, '0')}Z`;
  return importOrganisations(store, source, options, stamp, new AbortController().signal);
}

/** A store that decides twice, as after a conflict with another writer. `between` runs between the attempts. */
function decidingTwice(store: Store, onTransaction: () => void, between: () => Promise<void>): Store {
  return {
    ...watchedStore(store, () => {}),
    transaction: async (work) => {
      onTransaction();
      await store.transaction((transaction) => work({ ...transaction, write: () => {} }));
      await between();
      return store.transaction(work);
    },
  };
}

describeStores('clear passwords that are other ones', (kind) => {
  beforeEach(() => {
    vi.mocked(hashPassword).mockClear();
    vi.mocked(verifyPassword).mockClear();
  });

  it('are hashed and compared once, before the records are decided', async () => {
    const store = await openTestStore(kind);
    await run(store, 'Password1!');
    vi.mocked(hashPassword).mockClear();
    const counts: number[] = [];
    const count = () =>
      counts.push(vi.mocked(hashPassword).mock.calls.length, vi.mocked(verifyPassword).mock.calls.length);
    const { summary } = await run(
      decidingTwice(store, count, async () => {}),
      'Password2!',
    );
    expect(summary.overwritten).toEqual({ humanUsers: PEOPLE });
    count();
    // Before the organisation, the people and the end of overwriting, and afterwards.
    expect(counts).toEqual([0, 0, PEOPLE, PEOPLE, PEOPLE, PEOPLE, PEOPLE, PEOPLE]);
  });

  it('are compared again only where the stored hash changed between two attempts', async () => {
    const store = await openTestStore(kind);
    await run(store, 'Password1!');
    vi.mocked(verifyPassword).mockClear();
    const passwordHash = await hashPassword('Password2!');
    const change = async () => {
      if (vi.mocked(verifyPassword).mock.calls.length === 0) return;
      await store.commit([
        { type: 'update', key: { collection: 'users', id: documentId('P3') }, fields: { passwordHash } },
      ]);
    };
    const { summary } = await run(
      decidingTwice(store, () => {}, change),
      'Password2!',
    );
    expect(summary).toMatchObject({ overwritten: { humanUsers: PEOPLE - 1 }, unchanged: { org: 1, humanUsers: 1 } });
    expect(verifyPassword).toHaveBeenCalledTimes(PEOPLE + 1);
  });
});
