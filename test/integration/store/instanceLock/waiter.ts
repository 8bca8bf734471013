import { withLock } from '../../../../shared/store/lock/fence.ts';
import type { StoreLocation } from '../../../../shared/store/openStore.ts';
import type { DocumentKey } from '../../../../shared/store/store.ts';
import { openWithShortLease } from './shortLease.ts';

// Runs as a separate process: `waiter.ts LOCATION ROUNDS`. Takes the lock alone, and counts up without a transaction, which
// loses counts unless the lock excludes all others.

const location: StoreLocation = JSON.parse(process.argv[2] ?? '');
const rounds = Number(process.argv[3]);
const key: DocumentKey = { collection: 'instance', id: 'count' };

const store = await openWithShortLease(location);
const { signal } = new AbortController();
const onWait = () => void process.stdout.write('waits\n');
for (let round = 1; round <= rounds; round++) {
  const request = { mode: 'alone', operation: 'org delete', caller: 'waiter', signal, onWait } as const;
  await withLock(store, request, async (locked) => {
    const [stored] = await locked.getMany([key]);
    const sequence = (stored?.sequence ?? 0) + 1;
    await locked.commit([{ type: stored === undefined ? 'create' : 'update', key, fields: { sequence } }]);
  });
  process.stdout.write(`counted ${round}\n`);
}
await store.close();
