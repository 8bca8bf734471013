import { formatDuration } from '../../shared/duration.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import type { Snapshot, Store } from '../../shared/store/store.ts';

/**
 * Opens a snapshot that can be read until the export's timeout.
 * @param timeoutMs undefined for an export that needs no longer than a snapshot lasts by itself
 * @throws IdentityError INVALID_ARGUMENT when the database keeps no snapshot for so long
 */
export async function openSnapshot(
  store: Store,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { snapshotLifetimeMs = Number.POSITIVE_INFINITY } = store;
  if (timeoutMs === undefined || timeoutMs <= snapshotLifetimeMs) return store.snapshot();
  const snapshot = await store.lastingSnapshot?.(signal);
  if (snapshot !== undefined) return snapshot;
  const longest = formatDuration(snapshotLifetimeMs);
  const description = `must be at most ${longest}: the database keeps the export's snapshot no longer`;
  throw invalidRequest([{ field: 'timeout', description }]);
}
