import { openTemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { KeyedRecord } from '../../../shared/organisation/recordPlan.ts';
import { isList } from '../../../shared/organisation/sections/section.ts';
import { documentId, documentPath } from '../../../shared/store/store.ts';

/**
 * The records of a phase so far, to recognise records that repeat an earlier record. The stored record does not show
 * the repetition if the earlier record was unchanged, because it then has no stamp of this import. The keys are in an
 * unnamed temporary file, so memory is constant.
 */
export class EarlierRecords implements Disposable {
  private readonly database = openTemporaryDatabase(
    'CREATE TABLE records (key TEXT PRIMARY KEY, digest TEXT) STRICT, WITHOUT ROWID',
  );
  private readonly insert = this.database.prepare('INSERT OR IGNORE INTO records VALUES (?, ?)');
  private readonly select = this.database.prepare('SELECT digest FROM records WHERE key = ?');

  /**
   * Adds a record.
   * @returns whether an earlier record prevents the import of this record: an element of the same list with the same
   * id, or a policy with other content
   */
  excludes(record: OrganisationRecord): boolean {
    const key = identifyingKey(record);
    const digest = isList(record.section) ? null : record.digest;
    if (this.insert.run(key, digest).changes !== 0) return false;
    return digest === null || this.select.get(key)?.digest !== digest;
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}

/**
 * Returns the key that identifies a record within a file, without a field that is completed from stored records. For
 * sections whose foreign records are ignored, the key contains the organisation, because every organisation may contain
 * the same record: ZITADEL exports the members of all projects in every organisation.
 */
export function identifyingKey({ section, json, orgId }: KeyedRecord): string {
  const { collection, key, completed, references = [] } = section;
  const parts = key.filter((path) => path !== completed?.field).map((path) => textAt(json, path, orgId));
  const isPerOrganisation = references.some(({ ifForeign }) => ifForeign === 'notCarried');
  return documentPath({ collection, id: documentId(...parts, ...(isPerOrganisation ? [orgId] : [])) });
}
