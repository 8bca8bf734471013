import { openTemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { KeyedRecord } from '../../../shared/organisation/recordPlan.ts';
import type { FieldPath } from '../../../shared/organisation/relations.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import { documentId, documentPath } from '../../../shared/store/store.ts';

/**
 * Recognises records of a phase that repeat an earlier record of the file. The database alone cannot show a repetition:
 * if the earlier record was unchanged, the import has not written it, so the stored record does not have a date of this
 * import. The keys are in a temporary file, so that the memory does not grow with the file.
 */
export class EarlierRecords implements Disposable {
  private readonly database = openTemporaryDatabase(
    'CREATE TABLE records (key TEXT PRIMARY KEY, digest TEXT) STRICT, WITHOUT ROWID',
  );
  private readonly insert = this.database.prepare('INSERT OR IGNORE INTO records VALUES (?, ?)');
  private readonly select = this.database.prepare('SELECT digest FROM records WHERE key = ?');

  /**
   * Adds a record, unless an earlier record has the same identifying key.
   * @returns true if the import must not write the record, because an earlier record is the same element of a list, or
   * the same policy with different content
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

export function identifyingKey(record: KeyedRecord): string {
  return documentPath({ collection: record.section.collection, id: identifyingId(record) });
}

/**
 * Returns an id that identifies a record among the file's records of one collection. The id omits a field that the
 * import completes from stored records. If the import omits a section's references to other organisations, the id
 * contains the organisation's id. ZITADEL exports the members of all projects in every organisation, so the same record
 * can occur in several organisations.
 */
export function identifyingId({ section, json, orgId }: KeyedRecord): string {
  return documentId(...identifyingPaths(section).map((path) => textAt(json, path, orgId)));
}

const pathsBySection = new Map<Section, readonly FieldPath[]>();

function identifyingPaths(section: Section): readonly FieldPath[] {
  const cachedPaths = pathsBySection.get(section);
  if (cachedPaths !== undefined) return cachedPaths;
  const { key, completed, references = [] } = section;
  const isPerOrganisation = references.some(({ ifForeign }) => ifForeign === 'notCarried');
  const paths = [...key.filter((path) => path !== completed?.field), ...(isPerOrganisation ? ['$orgId'] : [])];
  pathsBySection.set(section, paths);
  return paths;
}
