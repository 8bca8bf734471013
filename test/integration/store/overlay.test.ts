import { describe, expect, it, onTestFinished } from 'vitest';
import { openOverlay } from '../../../shared/store/overlay.ts';
import { documentId, type Store, WriteConflictError } from '../../../shared/store/store.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

/** An overlay over a store with one user, whose store must be unchanged in the end. */
async function overlaid() {
  const store = await openTestStore(sqlite);
  await store.commit([createUser('below', { orgId: 'O', body: '{}', sequence: 1, otpEmail: true })]);
  const overlay = await openOverlay(store, new Set(['projects']));
  onTestFinished(() => overlay[Symbol.asyncDispose]());
  return { store, overlay, before: await readDatabase(store) };
}

const userOf = async (from: Pick<Store, 'getMany'>, name: string) => (await from.getMany([userKey(name)]))[0];

// It reads the store below by a snapshot only, so one store is enough.
describe('an overlay', () => {
  it('shows the underlying documents and its own writes, whose bodies it does not keep', async () => {
    const { overlay, store, before } = await overlaid();
    await overlay.commit([createUser('above', { orgId: 'P', body: '{}', otpEmail: false })]);
    expect(await userOf(overlay, 'below')).toMatchObject({ body: '{}', sequence: 1, otpEmail: true });
    expect(await userOf(overlay, 'above')).toEqual({ id: userKey('above').id, orgId: 'P', otpEmail: false });
    expect(await readDatabase(store)).toEqual(before);
  });

  it('keeps the bodies of the requested collections', async () => {
    const { overlay } = await overlaid();
    const key = { collection: 'projects', id: documentId('p') } as const;
    await overlay.commit([{ type: 'create', key, fields: { body: '{}' } }]);
    expect(await overlay.getMany([key], ['body'])).toEqual([{ id: key.id, body: '{}' }]);
  });

  it('changes and deletes underlying documents only in its own view', async () => {
    const { overlay, store, before } = await overlaid();
    await overlay.commit([{ type: 'update', key: userKey('below'), fields: { sequence: 2, otpEmail: null } }]);
    expect(await userOf(overlay, 'below')).toEqual({ id: userKey('below').id, orgId: 'O', sequence: 2 });
    await overlay.commit([{ type: 'delete', key: userKey('below') }]);
    expect(await userOf(overlay, 'below')).toBeUndefined();
    await overlay.commit([createUser('below', { sequence: 3 })]);
    expect(await userOf(overlay, 'below')).toMatchObject({ sequence: 3 });
    expect(await readDatabase(store)).toEqual(before);
  });

  it('rejects the same writes as the store, and keeps nothing of such a commit', async () => {
    const { overlay } = await overlaid();
    for (const wrong of [createUser('below'), { type: 'update', key: userKey('none'), fields: {} } as const]) {
      await expect(overlay.commit([createUser('above'), wrong])).rejects.toThrow(WriteConflictError);
      expect(await userOf(overlay, 'above')).toBeUndefined();
    }
  });

  it('runs transactions one after the other', async () => {
    const { overlay } = await overlaid();
    const add = () =>
      overlay.transaction(async (transaction) => {
        const [user] = await transaction.getMany([userKey('below')], ['sequence']);
        transaction.write([{ type: 'update', key: userKey('below'), fields: { sequence: (user?.sequence ?? 0) + 1 } }]);
      });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await userOf(overlay, 'below')).toMatchObject({ sequence: 21 });
  });

  it('shows the underlying state at its opening', async () => {
    const { overlay, store } = await overlaid();
    await store.commit([createUser('later')]);
    expect(await userOf(overlay, 'later')).toBeUndefined();
  });
});
