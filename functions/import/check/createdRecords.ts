import type { Counts } from '../../../shared/collections/counts.ts';
import { defined } from '../../../shared/defined.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { sectionPartition } from '../../../shared/organisation/sections/section.ts';
import { type DocumentKey, documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import type { Settled } from '../stages.ts';

/** The maximum number of records of each kind to keep, so that they use at most some 25 MB. */
const MAX_KEPT = 100_000;

/** The collections of records that other records require to exist. */
const referenced = new Set(
  sections.flatMap(({ references = [], privilege }) => [
    ...references.map(({ collection }) => collection),
    ...(privilege === undefined ? [] : [privilege.within.collection]),
  ]),
);

interface CreatedRecord extends Pick<OrganisationRecord, 'orgId' | 'section'> {
  /** Undefined unless the file contains records that are nested in records of this section. */
  readonly digest: string | undefined;
}

/**
 * The first 100,000 records that an import created, and the first 100,000 that it omitted. The import does not read
 * created records again, because every call that could delete them must wait for the import.
 */
export class CreatedRecords {
  private readonly stamp: string;
  private readonly nested: Counts;
  private readonly kept = new Map<string, CreatedRecord>();
  private readonly notCarried = new Set<string>();

  /** @param nested for each section, the number of its records that are nested in other records of the file */
  constructor(stamp: string, nested: Counts) {
    this.stamp = stamp;
    this.nested = nested;
  }

  add(records: readonly Settled[]): void {
    for (const { plan, outcome } of records) {
      const { key, record } = plan;
      if (!referenced.has(key.collection)) continue;
      if (outcome.kind === 'notCarried' && this.notCarried.size < MAX_KEPT) this.notCarried.add(documentPath(key));
      if (outcome.kind !== 'created' || this.kept.size >= MAX_KEPT) continue;
      const { orgId, section } = record;
      const isHolding = section.nested !== undefined && this.nested[section.nested.section.name] !== undefined;
      this.kept.set(documentPath(key), { orgId, section, digest: isHolding ? record.digest : undefined });
    }
  }

  /** True if the import omits the record with this key. */
  lacks(key: DocumentKey): boolean {
    return this.notCarried.has(documentPath(key));
  }

  find(keys: readonly DocumentKey[]): ReadonlyMap<string, StoredDocument> {
    const documents = new Map<string, StoredDocument>();
    if (this.kept.size === 0) return documents;
    for (const key of keys) {
      const path = documentPath(key);
      const kept = this.kept.get(path);
      if (kept === undefined) continue;
      const { orgId, section, digest } = kept;
      const partition = sectionPartition(orgId, section);
      documents.set(path, { id: key.id, orgId, partition, createdAt: this.stamp, ...defined({ digest }) });
    }
    return documents;
  }
}
