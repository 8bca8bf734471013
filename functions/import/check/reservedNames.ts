import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { type DocumentKey, documentPath } from '../../../shared/store/store.ts';
import type { Found } from './missingReferences.ts';

/** Bounds the memory of the known names. Most user names end in the same few domains. */
const MAX_KNOWN_NAMES = 10_000;

/**
 * The names that organisations reserve, with their owners. All names are claimed in an earlier phase than the records that
 * must not use them, so an import reads each of the first 10,000 names once.
 */
export class ReservedNames {
  private readonly owners = new Map<string, string | undefined>();

  /** Lists the claims to read of names that the records must not use. */
  unknown(plans: readonly RecordPlan[]): DocumentKey[] {
    return plans.flatMap(({ reserves }) => reserves.map(({ key }) => key)).filter(({ id }) => !this.owners.has(id));
  }

  /** Adds the owners of names. */
  learn(keys: readonly DocumentKey[], found: Found): void {
    for (const key of keys) {
      if (this.owners.size >= MAX_KNOWN_NAMES) return;
      this.owners.set(key.id, found.get(documentPath(key))?.orgId);
    }
  }

  /**
   * Returns the issue of a record that uses another organisation's name: it must neither be created nor get the name. Records
   * that have the name already are older than the claim, and keep it.
   * @param found has the claims that were unknown
   */
  issueOf({ record, reserves }: RecordPlan, found: Found): RecordIssue | undefined {
    return reserves.find(({ key }) => {
      const owner = this.owners.get(key.id) ?? found.get(documentPath(key))?.orgId;
      return owner !== undefined && owner !== record.orgId;
    })?.reserved;
  }
}
