import { openTemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { KeyedRecord } from '../../../shared/organisation/recordPlan.ts';
import type { FieldPath } from '../../../shared/organisation/relations.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import { documentId, documentPath } from '../../../shared/store/store.ts';

/**
 * The records of a phase so far, to recognise records that repeat an earlier record. The stored record does not show
 * the repetition if the earlier record was unchanged: the stored record then lacks this import's stamp. The keys are in
 * an unnamed temporary file, so memory is constant.
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

/** Returns the path that identifies a record within a file; see `identifyingId`. */
export function identifyingKey(record: KeyedRecord): string {
  return documentPath({ collection: record.section.collection, id: identifyingId(record) });
}

/**
 * Returns the id that identifies a record within a file and a collection, without a field that is completed from stored
 * records. For sections whose foreign records are ignored, the id contains the organisation, because every organisation
 * may contain the same record: ZITADEL exports the members of all projects in every organisation.
 */
export function identifyingId({ section, json, orgId }: KeyedRecord): string {
  return documentId(...identifyingPaths(section).map((path) => textAt(json, path, orgId)));
}

const pathsBySection = new Map<Section, readonly FieldPath[]>();

function identifyingPaths(section: Section): readonly FieldPath[] {
  const known = pathsBySection.get(section);
  if (known !== undefined) return known;
  const { key, completed, references = [] } = section;
  const isPerOrganisation = references.some(({ ifForeign }) => ifForeign === 'notCarried');
  const paths = [...key.filter((path) => path !== completed?.field), ...(isPerOrganisation ? ['$orgId'] : [])];
  pathsBySection.set(section, paths);
  return paths;
}
