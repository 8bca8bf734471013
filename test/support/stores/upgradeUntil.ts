import type { Store } from '../../../shared/store/store.ts';
import { upgrade } from '../../../shared/store/upgrade.ts';
import { interruptedStore, type Moment } from './interruptedStore.ts';

/** Options of an upgrade that waits for no other process. */
export const upgradeOptions = { signal: new AbortController().signal, onStep: () => {}, fenceMs: 0 };

/**
 * Upgrades until one commit, where something is tried and the upgrade ends.
 * @returns whether it came that far
 */
export async function upgradeUntil(
  store: Store,
  moment: Moment,
  tryThere: (store: Store) => Promise<void>,
): Promise<boolean> {
  const killed = new Error('killed');
  const happens = async () => {
    await tryThere(store);
    throw killed;
  };
  try {
    await upgrade(interruptedStore(store, moment, happens), upgradeOptions);
    return false;
  } catch (error) {
    if (error !== killed) throw error;
    return true;
  }
}
