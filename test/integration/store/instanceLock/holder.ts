import { withLock } from '../../../../shared/store/lock/fence.ts';
import type { LockMode } from '../../../../shared/store/lock/instanceLock.ts';
import { openStore, type StoreLocation } from '../../../../shared/store/openStore.ts';
import { openWithShortLease } from './shortLease.ts';

// Runs as a separate process: `holder.ts LOCATION MODE [short]`, at last for a short lease. Holds the lock, and writes
// a
// document at each SIGUSR2. Prints when it notices that it has lost the lock.

const location: StoreLocation = JSON.parse(process.argv[2] ?? '');
const mode: LockMode = process.argv[3] === 'alone' ? 'alone' : 'shared';
const open = process.argv[4] === 'short' ? openWithShortLease : openStore;
const store = await open(location);
const { signal } = new AbortController();
await withLock(store, { mode, operation: 'import', caller: 'holder', signal }, async (locked, whileHeld) => {
  let number = 0;
  process.on('SIGUSR2', () => {
    const key = { collection: 'instance', id: `written ${number++}` } as const;
    const written = locked.commit([{ type: 'create', key, fields: {} }]);
    written.then(
      () => process.stdout.write(`written ${key.id}\n`),
      (error: Error) => process.stdout.write(`refused ${error.message}\n`),
    );
  });
  whileHeld.addEventListener('abort', () => process.stdout.write(`ended ${whileHeld.reason.message}\n`));
  process.stdout.write('taken\n');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
