import type { StoreLocation } from '../../shared/store/openStore.ts';
import { UsageError } from '../command.ts';

/**
 * Returns the directory of a self-hosted instance.
 * @param instead what a cloud-hosted instance has
 * @throws UsageError for a cloud-hosted instance
 */
export function embeddedDirectory(location: StoreLocation, instead: string): string {
  if (location.kind === 'sqlite') return location.directory;
  throw new UsageError(`--firestore ${instead} (docs/operations-google-cloud.md)`);
}
