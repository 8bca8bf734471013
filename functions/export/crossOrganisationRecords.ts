import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import type { Section } from '../../shared/organisation/section.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

/** A batch's records, by the entry of their organisation that contains them. */
interface SplitBatch {
  readonly first: readonly StoredDocument[];
  readonly second: readonly StoredDocument[];
}

/**
 * A separator of the records that refer to another organisation's project. ZITADEL imports grants organisation by
 * organisation, in the file's order, so these records belong in a second entry of their organisation, after the first
 * ones of all. The file is written in two passes over the snapshot: its number of such records does not cost memory.
 */
export class CrossOrganisationRecords {
  /** The organisations of projects. */
  private readonly owners: CachedDocuments<string>;
  private readonly found = new Set<Section>();

  constructor(snapshot: Snapshot) {
    this.owners = new CachedDocuments(snapshot, 'projects', ['orgId'], ({ orgId = '' }) => orgId);
  }

  /** The sections in which the first pass met such records. */
  get sections(): ReadonlySet<Section> {
    return this.found;
  }

  /** Splits records of one organisation. */
  async split(section: Section, documents: readonly StoredDocument[]): Promise<SplitBatch> {
    const { ofProject } = section.exported ?? {};
    if (ofProject === undefined) return { first: documents, second: [] };
    const projectIds = documents.map((document) => textAt(parseObject(document.body), ofProject, ''));
    const owners = await this.owners.find(projectIds);
    const isForeign = (document: StoredDocument, index: number) =>
      owners.get(projectIds[index] ?? '') !== document.orgId;
    const second = documents.filter(isForeign);
    if (second.length > 0) this.found.add(section);
    return { first: documents.filter((document, index) => !isForeign(document, index)), second };
  }
}
