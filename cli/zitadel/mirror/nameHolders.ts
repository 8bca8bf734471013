import { planReferences, possibleClaimKeys } from '../../../shared/organisation/recordPlan.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { ImportLedger } from '../import/ledger.ts';
import type { DoomedRecord, DoomedRecords } from './doomedRecords.ts';

/**
 * Returns those records to delete whose names are needed for unsent records of the file. The result also contains the
 * records to delete that refer to them.
 */
export async function findNameHolders(
  ledger: ImportLedger,
  doomed: DoomedRecords,
  signal: AbortSignal,
): Promise<readonly DoomedRecord[]> {
  const holders = new Map<string, DoomedRecord>();
  for (const record of doomed.values())
    for (const key of possibleClaimKeys(record)) holders.set(documentPath(key), record);
  const freed = new Map<string, DoomedRecord>();
  if (holders.size === 0) return [];
  for await (const { record, outcome } of ledger.records(signal)) {
    if (outcome !== undefined && outcome !== null) continue;
    for (const key of possibleClaimKeys(record)) {
      const holder = holders.get(documentPath(key));
      if (holder !== undefined) freed.set(holder.path, holder);
    }
  }
  for (let size = -1; size !== freed.size; ) {
    size = freed.size;
    for (const record of doomed.values())
      if (planReferences(record).some(({ key }) => freed.has(documentPath(key)))) freed.set(record.path, record);
  }
  return [...freed.values()];
}
