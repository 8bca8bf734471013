import { exportOrganisations } from '../../functions/export/operation.ts';
import { divideOrganisations } from '../../functions/export/organisationRanges.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import { describeInstance } from '../../shared/instance.ts';
import { storeForCall } from '../../shared/store/store.ts';
import { auditedExport } from './auditedExport.ts';
import { type DatabaseSettings, openResources } from './databaseResources.ts';
import type { ExportOptions, PartSource } from './place.ts';

/**
 * Opens one state of a database for an export in parts, which later calls can open again.
 * @param readTime the moment of the state; by default the present one
 * @returns undefined if the database does not keep that state
 */
export async function openParts(
  settings: DatabaseSettings,
  options: ExportOptions,
  readTime: Date | undefined,
  signal: AbortSignal,
): Promise<PartSource | undefined> {
  const { store, audit, resources } = await openResources(settings);
  await using opened = resources;
  const call = opened.use(callSignal(signal, options.timeoutMs));
  const snapshot = await storeForCall(store, { signal: call.signal }).lastingSnapshot?.(call.signal, readTime);
  if (snapshot === undefined) return undefined;
  opened.use(snapshot);
  const origin = await describeInstance(snapshot);
  const held = opened.move();
  return {
    readTime: snapshot.readTime,
    divide: (count) => divideOrganisations(snapshot, options.excludedOrgIds, count),
    export(range, object) {
      const exported = exportOrganisations(snapshot, { ...options, range }, origin, call.signal);
      return {
        bytes: auditedExport(audit, exported, options, object),
        get manifest() {
          return exported.manifest;
        },
      };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
