import { onTestFinished, vi } from 'vitest';
import type { Store } from '../../../shared/store/store.ts';
import { firestoreEmulator } from '../emulators/withFirestore.ts';
import { type GrpcProxy, startGrpcProxy } from '../http/grpcProxy.ts';
import { firestore, openTestStore } from './stores.ts';

/** Opens a database of the emulator twice: directly, and through a network in which calls can fail. */
export async function openProxiedStore(): Promise<{ direct: Store; store: Store; network: GrpcProxy }> {
  const location = await firestore.newLocation();
  const direct = await openTestStore(firestore, location);
  const network = await startGrpcProxy(firestoreEmulator ?? '');
  onTestFinished(() => network.close());
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', network.address);
  const store = await openTestStore(firestore, location);
  vi.unstubAllEnvs();
  return { direct, store, network };
}
