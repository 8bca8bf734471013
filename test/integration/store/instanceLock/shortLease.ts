import { createStore } from '../../../../shared/store/createStore.ts';
import { openFirestoreDatabase } from '../../../../shared/store/firestore/firestoreDatabase.ts';
import { openKeyring, openStore, type StoreLocation } from '../../../../shared/store/openStore.ts';
import { sharedGuard } from '../../../../shared/store/secrets/keyRecord.ts';
import type { Store } from '../../../../shared/store/store.ts';

const LEASE_MS = 3_000;

/** Opens the store at a location, with leases that expire within a few seconds. */
export async function openWithShortLease(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') return openStore(location);
  return createStore(openFirestoreDatabase(location, LEASE_MS), sharedGuard(openKeyring(location)));
}
