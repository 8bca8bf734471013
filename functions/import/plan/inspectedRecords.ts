// Keeps the decoded records from the validation of a file. An import of a file that was imported before compares them
// with the stored records, so it need not decode the records a second time.

import type { RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import type { JsonPath } from '../../../shared/json/jsonError.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { recordKey, targetKeys } from '../../../shared/organisation/recordPlan.ts';
import type { Reference } from '../../../shared/organisation/relations.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import type { Collection, DocumentKey } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import { collectWarnings } from '../results/recordWarnings.ts';
import { identifyingId } from './earlierRecords.ts';

/**
 * A record of the file that counts as unchanged if the stored record is equal, and if the organisation has all records
 * to which the record refers.
 */
export interface InspectedRecord
  extends Pick<OrganisationRecord, 'section' | 'orgId' | 'digest' | 'credentials' | 'otpEmail'> {
  /**
   * The record's position in the file: the index of the organisation's entry, the name of the list, and the index in
   * the list.
   */
  readonly entry: number;
  readonly list: string;
  readonly index: number;
  readonly key: DocumentKey;
  readonly references: readonly DocumentKey[];
  readonly warnings: readonly ImportWarning[];
  /**
   * The `ImportContext.state` of the import that found the record unchanged; undefined until an import has. It
   * distinguishes a mirroring import from its simulation, because each has its own state.
   */
  unchangedIn: object | undefined;
}

/** The maximum number of kept records, so that they use at most some 50 MB. */
const MAX_KEPT = 100_000;

/**
 * The first records of a file that an import can find unchanged by a comparison with the stored records alone. Keeps no
 * records if the file's first organisation is new, because the other records are then probably new too.
 */
export class InspectedRecords implements RecordVisitor {
  private readonly isStored: (orgId: string) => Promise<boolean>;
  /** True if records are kept; undefined before the first record. */
  private isKeeping: boolean | undefined;
  /** The kept records in the file's order, including repeated records. */
  private kept: InspectedRecord[] = [];
  /**
   * The kept records by collection and identifying id. The value is undefined if a comparison with the stored record
   * alone cannot show that the record is unchanged.
   */
  private readonly byId = new Map<Collection, Map<string, InspectedRecord | undefined>>();
  private readonly repeated = new Set<InspectedRecord>();
  private ids = 0;

  constructor(isStored: (orgId: string) => Promise<boolean>) {
    this.isStored = isStored;
  }

  /** @param path the record's path in the file; undefined for a record that is not an element of a list */
  add(record: OrganisationRecord, _holder: OrganisationRecord | undefined, path: JsonPath | undefined): void {
    if (this.isKeeping === undefined) void this.findOut(record.orgId);
    if (this.isKeeping === false) return;
    const { collection } = record.section;
    const id = identifyingId(record);
    const byId = this.byId.get(collection) ?? new Map<string, InspectedRecord | undefined>();
    this.byId.set(collection, byId);
    if (byId.has(id)) {
      const earlier = byId.get(id);
      if (earlier !== undefined) this.repeated.add(earlier);
    } else if (this.ids < MAX_KEPT) {
      this.ids++;
      const inspected = path === undefined ? undefined : inspectedRecord(record, path);
      if (inspected !== undefined) this.kept.push(inspected);
      byId.set(id, inspected);
    }
  }

  reset(): void {
    this.clear();
    this.isKeeping = undefined;
  }

  of(sections: ReadonlySet<Section>): InspectedRecord[] {
    return this.kept.filter((record) => sections.has(record.section) && !this.repeated.has(record));
  }

  /** Returns the kept record with this key. Does not find a record whose key differs from its identifying id. */
  find({ collection, id }: DocumentKey): InspectedRecord | undefined {
    const record = this.byId.get(collection)?.get(id);
    return record?.key.id === id ? record : undefined;
  }

  /** Finds out whether the file's first organisation is stored. Until the database has answered, records are kept. */
  private async findOut(orgId: string): Promise<void> {
    this.isKeeping = true;
    // Ignore an error of the database, because the import's next call fails too.
    this.isKeeping = await this.isStored(orgId).catch(() => false);
    if (!this.isKeeping) this.clear();
  }

  private clear(): void {
    this.kept = [];
    this.byId.clear();
    this.repeated.clear();
    this.ids = 0;
  }
}

/**
 * Converts a record of the file. Returns undefined if a comparison with the stored record alone cannot show that the
 * record is unchanged.
 */
function inspectedRecord(record: OrganisationRecord, [, entry, list, index]: JsonPath): InspectedRecord | undefined {
  const { section, orgId, digest, credentials, otpEmail, invalid, givenPassword } = record;
  // The import must hash a clear password to compare it with the stored hash.
  if (!isList(section) || section.adjusted !== undefined || invalid !== undefined || givenPassword !== undefined)
    return undefined;
  if (hasConvertedKey(section)) return undefined;
  const references = referencedKeys(record);
  if (references === undefined) return undefined;
  return {
    section,
    orgId,
    digest,
    credentials,
    otpEmail,
    key: recordKey(record),
    entry: Number(entry),
    list: String(list),
    index: Number(index),
    references,
    warnings: collectWarnings(record, UNCHANGED),
    unchangedIn: undefined,
  };
}

/**
 * True if the import converts a field of the key. Two different spellings can then be the same record, but only the
 * conversion shows this.
 */
function hasConvertedKey({ key, values }: Section): boolean {
  return values !== undefined && key.some((path) => values[path] !== undefined);
}

const UNCHANGED = { kind: 'unchanged' } as const;
const NO_KEYS: readonly DocumentKey[] = [];

/** Returns undefined if a reference requires more than the existence of its target. */
function referencedKeys(record: OrganisationRecord): readonly DocumentKey[] | undefined {
  const { references } = record.section;
  if (references === undefined) return NO_KEYS;
  const keys: DocumentKey[] = [];
  for (const reference of references) {
    const targets = targetKeys(reference, record);
    if (targets.length > 0 && !requiresExistence(reference)) return undefined;
    keys.push(...targets);
  }
  return keys;
}

/** True if a reference only requires that its target exists in the record's own organisation. */
function requiresExistence({ check, isParent, ifOwn }: Reference): boolean {
  return check === undefined && isParent === undefined && ifOwn === undefined;
}
