import { openFirestoreStore } from '../../../../shared/store/firestore/openFirestoreStore.ts';
import { openKeyring, openStore, type StoreLocation } from '../../../../shared/store/openStore.ts';
import { sharedGuard } from '../../../../shared/store/secrets/keyRecord.ts';
import { sealStore } from '../../../../shared/store/secrets/sealedStore.ts';
import type { Store } from '../../../../shared/store/store.ts';

const LEASE_MS = 3_000;

/** Opens the store at a location, with leases that expire within a few seconds. */
export async function openWithShortLease(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') return openStore(location);
  return sealStore(openFirestoreStore(location, LEASE_MS), sharedGuard(openKeyring(location)));
}
