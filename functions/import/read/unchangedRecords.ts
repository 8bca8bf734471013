import type { JsonPath } from '../../../shared/json/jsonError.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { isInDeletion } from '../../../shared/organisation/sections/users.ts';
import { credentialFields, type FieldName } from '../../../shared/store/documentFields.ts';
import { isOfAnImport } from '../../../shared/store/lastChange.ts';
import {
  type DocumentKey,
  documentPath,
  READ_BATCH,
  readByPath,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';
import { contentFields, isSameRecord } from '../decide/storedEquality.ts';
import { isDoomed } from '../mirror/deletions.ts';
import type { InspectedRecord } from '../plan/inspectedRecords.ts';
import type { Targets } from '../plan/targets.ts';

export class UnchangedRecords {
  private readonly places = new Map<string, Set<number>>();
  /** The list of the record that was added last. The next record is usually in this list, too. */
  private last: { readonly entry: number; readonly list: string; readonly indices: Set<number> } | undefined;
  size = 0;

  add({ entry, list, index }: InspectedRecord): void {
    if (this.last?.entry !== entry || this.last.list !== list) {
      const place = `${entry}/${list}`;
      const indices = this.places.get(place) ?? new Set();
      this.places.set(place, indices);
      this.last = { entry, list, indices };
    }
    this.last.indices.add(index);
    this.size++;
  }

  has([, entry, list, index]: JsonPath): boolean {
    return this.places.get(`${entry}/${list}`)?.has(Number(index)) === true;
  }
}

/**
 * Finds the records of some sections that are unchanged: the stored record is equal, and the records to which it refers
 * exist. Counts these records as unchanged. The import decodes, checks and decides all other records individually, even
 * if it then finds them equal. Stops when most records of a batch differ, because the import reads differing records a
 * second time.
 */
export async function findUnchanged(
  { inspected, store, signal, removed, mirror, state }: ImportContext,
  targets: Targets,
  sections: ReadonlySet<Section>,
): Promise<UnchangedRecords> {
  const unchanged = new UnchangedRecords();
  // The records of an organisation whose removal was interrupted count as missing, even if they still exist. So check
  // every record individually.
  if (removed.size > 0) return unchanged;
  const stored = inspected.of(sections).filter(({ entry }) => targets.get(entry)?.isNew === false);
  // If this import has found the target of a reference unchanged, the target still exists, because the import's lock
  // prevents its deletion.
  const isUnchanged = (key: DocumentKey, orgId: string) => {
    const target = inspected.find(key);
    return target?.orgId === orgId && target.unchangedIn === state;
  };
  for await (const batch of inTurns(stored, READ_BATCH, signal)) {
    const unread = batch.map((record) => record.references.filter((key) => !isUnchanged(key, record.orgId)));
    const [documents, references] = await Promise.all([
      store.getMany(
        batch.map(({ key }) => key),
        mirror === undefined ? contentFields : mirroredFields,
      ),
      readByPath(store, unread.flat(), ['orgId', 'partition']),
    ]);
    const isIntact = (key: DocumentKey, orgId: string) => {
      const target = references.get(documentPath(key));
      return target?.orgId === orgId && !isInDeletion(target);
    };
    const equal = batch.filter(
      (record, index) =>
        isStored(record, documents[index], mirror) &&
        unread[index]?.every((key) => isIntact(key, record.orgId)) === true &&
        (mirror === undefined || !record.references.some((key) => isDoomed(documentPath(key), mirror))),
    );
    for (const record of equal) {
      unchanged.add(record);
      record.unchangedIn = state;
      state.report.count('unchanged', record.section.name);
      for (const warning of record.warnings) state.report.addWarning(warning);
    }
    if (equal.length < batch.length / 2) break;
  }
  if (unchanged.size > 0) state.pace.readsFirst = true;
  return unchanged;
}

const mirroredFields: readonly FieldName[] = [...contentFields, 'changedAt'];

/** True if a record equals the stored record, and a mirroring import need not write the record for another reason. */
function isStored(
  record: InspectedRecord,
  stored: StoredDocument | undefined,
  mirror: ImportContext['mirror'],
): boolean {
  const { key, orgId, digest, credentials, otpEmail = false } = record;
  return (
    stored !== undefined &&
    mirror?.deletions.isDependent(documentPath(key)) !== true &&
    (mirror?.adopts.has(orgId) !== true || isOfAnImport(stored)) &&
    stored.digest === digest &&
    isSameRecord({ record }, stored) &&
    (stored.otpEmail ?? false) === otpEmail &&
    credentialFields.every((field) => stored[field] === credentials[field])
  );
}
