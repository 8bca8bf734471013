// Determines the outcomes of a batch's records and the writes of the batch. The function is pure: it only depends on
// the checked records and the stored data.

import { parseObject } from '../../../shared/json/jsonObject.ts';
import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { documentPath, type Write } from '../../../shared/store/store.ts';
import {
  type BatchRecord,
  type Checked,
  type Decided,
  type DoomedRecord,
  isSettled,
  type RecordOutcome,
  type Settled,
  unsettled,
  withWarnings,
} from '../stages.ts';
import { ClaimLedger, type FreedHolder } from './claims.ts';
import { decideRepetition, type Intentions, intend, type Rules, type StoredRecords } from './intentions.ts';
import { adoptRecord, heldClaims, overwriteRecord } from './overwrite.ts';
import { writeWarnings } from './writeWarnings.ts';

export interface StoredBatch extends StoredRecords {
  /** The versions of the stored records; the key is the record's path. Empty unless the import overwrites records. */
  readonly versions: ReadonlyMap<string, string>;
  /**
   * The stored records that the import deletes if a record of the batch needs their names. The key is the path of the
   * stored record.
   */
  readonly freed: ReadonlyMap<string, FreedHolder>;
  /**
   * True if all overwritten records first give up their stored names, so that any record of the batch can then take
   * these names.
   */
  readonly isSimultaneous: boolean;
  /**
   * The paths of stored records that a call other than an import has changed before this import, and that a mirroring
   * import may replace. If such a record equals the file's record, the import only sets its change date to a date of
   * this import.
   */
  readonly adopted: ReadonlySet<string>;
  /** The stored user grants that a mirroring import must delete before it writes the batch's project grants. */
  readonly early: readonly DoomedRecord[];
}

export const nothingStored: StoredBatch = {
  documents: new Map(),
  changed: new Set(),
  equal: new Set(),
  removed: new Set(),
  reserved: new Map(),
  replaced: new Set(),
  rolesInUse: new Map(),
  lastOwners: new Set(),
  versions: new Map(),
  freed: new Map(),
  isSimultaneous: false,
  adopted: new Set(),
  early: [],
};

/**
 * Determines the outcomes of a batch in the order of its records. If a record gives up a name, the following records
 * can take that name; with `isSimultaneous`, the preceding records can too. The returned writes do not contain the
 * hashes of clear passwords yet.
 * @param stamp the creation and change date of the written records
 */
export function decide(batch: readonly BatchRecord[], stored: StoredBatch, rules: Rules, stamp: string): Decided {
  const intentions = intend(unsettled(batch), stored, rules);
  // The records whose overwrite fails. They keep their old names, so other records cannot take these names.
  const keeping = new Set<BatchRecord>();
  for (;;) {
    const decided = decideInOrder(batch, stored, intentions, rules, stamp, keeping);
    if (!stored.isSimultaneous) return decided;
    const kept = keeping.size;
    for (const [index, record] of batch.entries())
      if (decided.records[index]?.outcome.kind === 'failed') keeping.add(record);
    if (keeping.size === kept) return decided;
  }
}

/** @param keeping records that keep their names until this function reaches them */
function decideInOrder(
  batch: readonly BatchRecord[],
  { documents, versions, freed, isSimultaneous, adopted, early }: StoredBatch,
  intentions: Intentions,
  { onConflict }: Pick<Rules, 'onConflict'>,
  stamp: string,
  keeping: ReadonlySet<BatchRecord>,
): Decided {
  const ledger = new ClaimLedger(documents, freed, onConflict === 'overwrite');
  for (const record of isSimultaneous ? unsettled(batch) : [])
    if (intentions.get(record) === 'overwrite' && !keeping.has(record))
      ledger.giveUp(record.plan, heldClaims(record.plan, documents.get(documentPath(record.plan.key))));
  const written = new Map<string, RecordPlan>();
  const writes: Write[] = [];
  const decideNext = (record: Checked): Settled => {
    const { plan } = record;
    const path = documentPath(plan.key);
    const document = documents.get(path);
    const first = written.get(path);
    const intention =
      first === undefined || plan.rejection !== undefined
        ? intentions.get(record)
        : decideRepetition(plan, plan.record.digest === first.record.digest, first.record);
    if (intention === undefined) throw new Error(`no intention for ${path}`);
    if (typeof intention === 'object') {
      if (intention.kind === 'unchanged' && first === undefined && document !== undefined && adopted.has(path))
        writes.push(adoptRecord(plan, document, versions.get(path), stamp));
      return settled(record, intention);
    }
    const adjusted = onConflict === 'overwrite' ? plan : adjustMeanwhile(plan, documents);
    const taken = ledger.claim(adjusted, heldClaims(plan, document));
    if (taken !== undefined) return settled(record, { kind: 'failed', ...taken });
    written.set(path, plan);
    const overwrite = document && overwriteRecord(adjusted, document, versions.get(path), stamp);
    writes.push(overwrite ?? createRecord(adjusted, stamp));
    const warnings = writeWarnings(record, document);
    const kind = intention === 'create' ? 'created' : 'overwritten';
    return settled(record, warnings.length === 0 ? { kind } : { kind, writeWarnings: warnings }, adjusted);
  };
  const records = batch.map((record) => (isSettled(record) ? record : decideNext(record)));
  return { records, writes: [...writes, ...ledger.writes()], stamp, freed: [...ledger.released.keys()], early };
}

function settled({ plan, warnings }: Checked, outcome: RecordOutcome, written = plan): Settled {
  return { plan: written, outcome: withWarnings(outcome, warnings) };
}

/**
 * Some fields, such as a domain's primary mark, can be set in only one record of an organisation. Removes such a field
 * if another call has set it in another record during this import. An overwriting import is an exception: its exclusive
 * lock prevents such calls, so the field moves to this record.
 */
function adjustMeanwhile(plan: RecordPlan, documents: StoredBatch['documents']): RecordPlan {
  const { record, key, claims } = plan;
  const { adjusted } = record.section;
  const claim = claims.find(({ taken }) => taken === 'adjusted');
  const held = claim && documents.get(documentPath(claim.key));
  if (held === undefined || adjusted === undefined) return plan;
  const holder = documents.get(documentPath(holderKey(held, key.collection)));
  const adjustment = { warning: adjusted.held(parseObject(holder?.body)) };
  const changed = withChanges(record, new Map([[adjusted.field, undefined]]));
  return { ...plan, record: { ...changed, adjustment }, claims: claims.filter((other) => other !== claim) };
}
