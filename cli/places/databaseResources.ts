import { openAudit } from '../../shared/audit/openAudit.ts';
import type { Config } from '../../shared/config.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';

/** A database, and how it hashes clear passwords. */
export interface DatabaseSettings extends Pick<Config, 'passwordHashing'> {
  readonly name: string;
  readonly location: StoreLocation;
}

/** Opens what a call on the database needs. */
export async function openResources({ location }: DatabaseSettings) {
  await using resources = new AsyncDisposableStack();
  const store = await openExistingStore(location);
  resources.defer(() => store.close());
  const audit = await openAudit({ storeLocation: location }, process.stderr);
  resources.defer(() => audit.close());
  return { store, audit, resources: resources.move() };
}
