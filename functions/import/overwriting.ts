import { isRecord, valueAt } from '../../shared/contract/jsonRecord.ts';
import { recordOf, storedFields } from '../../shared/contract/record.ts';
import { planRecord, type RecordPlan } from '../../shared/contract/recordPlan.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { DocumentKey, StoredDocument, Write } from '../../shared/store/store.ts';

/** What must be read of a stored record, beside what is compared, before it can be overwritten. */
export const overwrittenFields: readonly FieldName[] = ['body', 'sequence'];

/** Whether a record may be overwritten: not where that would change what other records were written by. */
export function canOverwrite({ record }: RecordPlan, stored: StoredDocument): boolean {
  const { fixed } = record.section;
  return fixed === undefined || (valueAt(record.json, fixed) ?? false) === (valueAt(bodyOf(stored), fixed) ?? false);
}

/** The names that a stored record may hold, whatever its organisation's domain policy was when it was written. */
export function heldNames({ record }: RecordPlan, stored: StoredDocument): DocumentKey[] {
  const before = recordOf(record.section, bodyOf(stored), record.orgId, false);
  return [false, true].flatMap((byDomain) => planRecord(before, byDomain).claims.map(({ key }) => key));
}

/** The write that overwrites a record. Credentials and a factor that the document does not carry stay as they are. */
export function overwriteRecord({ record, key }: RecordPlan, stored: StoredDocument, changedAt: string) {
  const sequence = (stored.sequence ?? 0) + 1;
  const fields = { state: null, ...storedFields(record), sequence, changedAt };
  return { type: 'update', key, fields } satisfies Write;
}

function bodyOf({ body = '{}' }: StoredDocument) {
  const json: unknown = JSON.parse(body);
  return isRecord(json) ? json : {};
}
