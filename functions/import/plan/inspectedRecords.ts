// Keeps records that the validation of a file has decoded. A repeated import recognises unchanged records by them,
// without decoding the records again.

import type { RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import type { JsonPath } from '../../../shared/json/jsonError.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type PlannedReference, planReferences, recordKey } from '../../../shared/organisation/recordPlan.ts';
import { isList, type Section } from '../../../shared/organisation/sections/section.ts';
import type { DocumentKey } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import { collectWarnings } from '../results/recordWarnings.ts';
import { identifyingKey } from './earlierRecords.ts';

/**
 * A record of the file that counts as unchanged if the stored record is equal, and if the record's organisation has all
 * records to which it refers.
 */
export interface InspectedRecord
  extends Pick<OrganisationRecord, 'section' | 'orgId' | 'digest' | 'credentials' | 'otpEmail'> {
  /**
   * The record's place in the file: the position of the organisation, the name of the list, and the position in the
   * list.
   */
  readonly entry: number;
  readonly list: string;
  readonly index: number;
  readonly key: DocumentKey;
  readonly references: readonly DocumentKey[];
  readonly warnings: readonly ImportWarning[];
}

/** Bounds the memory of the kept records to some 50 MB. */
const MAX_KEPT = 100_000;

/**
 * The first records of a file that a comparison with the stored records decides completely. Keeps no records if the
 * file's first organisation is new, because a first import does not need them.
 */
export class InspectedRecords implements RecordVisitor {
  private readonly isStored: (orgId: string) => Promise<boolean>;
  /** Whether records are kept; undefined before the first record. */
  private isKeeping: boolean | undefined;
  /**
   * The records by their identifying keys; undefined for records that a comparison alone cannot decide, such as
   * repeated records.
   */
  private readonly kept = new Map<string, InspectedRecord | undefined>();

  /** @param isStored whether an organisation is stored */
  constructor(isStored: (orgId: string) => Promise<boolean>) {
    this.isStored = isStored;
  }

  /** @param path the record's path in the file; undefined for a record that is not an element of a list */
  add(record: OrganisationRecord, _holder: OrganisationRecord | undefined, path: JsonPath | undefined): void {
    if (this.isKeeping === undefined) void this.findOut(record.orgId);
    if (this.isKeeping === false) return;
    const key = identifyingKey(record);
    const isRepeated = this.kept.has(key);
    if (!isRepeated && this.kept.size >= MAX_KEPT) return;
    this.kept.set(key, isRepeated || path === undefined ? undefined : inspectedRecord(record, path));
  }

  reset(): void {
    this.kept.clear();
    this.isKeeping = undefined;
  }

  /** Lists the records of some sections, in the file's order. */
  of(sections: ReadonlySet<Section>): InspectedRecord[] {
    return [...this.kept.values()]
      .filter((record) => record !== undefined)
      .filter(({ section }) => sections.has(section));
  }

  /** Looks up whether the first organisation is stored. Keeps records until the answer arrives. */
  private async findOut(orgId: string): Promise<void> {
    this.isKeeping = true;
    // Ignore an error of the database, because the import's next call fails too.
    this.isKeeping = await this.isStored(orgId).catch(() => false);
    if (!this.isKeeping) this.kept.clear();
  }
}

/** Returns the facts that decide a record by comparison; undefined if a comparison alone does not decide the record. */
function inspectedRecord(record: OrganisationRecord, [, entry, list, index]: JsonPath): InspectedRecord | undefined {
  const { section, orgId, digest, credentials, otpEmail, invalid, givenPassword } = record;
  // Only hashing shows whether a stored hash matches a clear password.
  if (!isList(section) || section.adjusted !== undefined || invalid !== undefined || givenPassword !== undefined)
    return undefined;
  if (hasConvertedKey(section)) return undefined;
  const references = planReferences(record);
  if (!references.every(requiresExistence)) return undefined;
  return {
    ...{ section, orgId, digest, credentials, otpEmail },
    key: recordKey(record),
    entry: Number(entry),
    list: String(list),
    index: Number(index),
    references: references.map((reference) => reference.key),
    warnings: collectWarnings(record, UNCHANGED),
  };
}

/** Whether different spellings of a key can mean the same record, so that only conversion reveals repeated records. */
function hasConvertedKey({ key, values = {} }: Section): boolean {
  return key.some((path) => values[path] !== undefined);
}

const UNCHANGED = { kind: 'unchanged' } as const;

/** Whether a reference only requires that its target exists in the record's own organisation. */
function requiresExistence({ reference: { check, isParent, ifOwn } }: PlannedReference): boolean {
  return check === undefined && isParent === undefined && ifOwn === undefined;
}
