import { InvalidRecordError } from './message.ts';
import { normaliseRecord } from './normaliseRecord.ts';
import { type OrganisationRecord, readRecord } from './record.ts';
import { formatIssue } from './relations.ts';
import type { Section } from './sections/section.ts';

/**
 * Creates a record by the rules of imports, so that every export with this record can be imported.
 * @param value the record's JSON, as in an export file
 * @throws InvalidRecordError if the record is invalid
 */
export function newRecord(section: Section, value: unknown, orgId: string, now: Date): OrganisationRecord {
  const { record, issue: valueIssue } = normaliseRecord(readRecord(section, value, orgId, true));
  const issue = valueIssue ?? section.check?.(record.json, now.toISOString());
  if (issue === undefined) return record;
  const reason = issue === 'notCarried' ? 'the record has no content' : formatIssue(issue);
  throw new InvalidRecordError([{ path: '', reason }]);
}
