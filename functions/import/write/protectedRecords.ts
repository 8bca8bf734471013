import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { ownState } from '../../../shared/organisation/sections/users.ts';
import { organisationSection, organisationState } from '../../../shared/organisation/sections.ts';
import { documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import type { Writing } from '../importRun.ts';
import type { IncomingRecord } from '../incomingRecord.ts';
import { isSameRecord } from './comparison.ts';
import { stateChange } from './overwrite.ts';

/**
 * Finds the records whose overwrite would change the state of an organisation or of the caller, who could be locked out.
 * @param documents the stored records, by `documentPath`
 * @returns the records, each with its issue
 */
export function findProtected(
  { callerPath }: Writing,
  documents: ReadonlyMap<string, StoredDocument>,
  records: readonly IncomingRecord[],
): Map<IncomingRecord, RecordIssue> {
  const found = new Map<IncomingRecord, RecordIssue>();
  for (const record of records) {
    const { plan } = record;
    const path = documentPath(plan.key);
    const isOrganisation = plan.record.section === organisationSection;
    if (!isOrganisation && path !== callerPath) continue;
    const stored = documents.get(path);
    if (stored === undefined || !isSameRecord(plan, stored) || stateChange(plan, stored) === undefined) continue;
    found.set(record, isOrganisation ? organisationState : ownState);
  }
  return found;
}
