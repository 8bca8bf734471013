import { InvalidRecordError } from './message.ts';
import { normaliseRecord } from './normaliseRecord.ts';
import { type OrganisationRecord, readRecord } from './record.ts';
import { formatIssue } from './relations.ts';
import type { Section } from './sections/section.ts';

/**
 * Creates a record, and checks it by the rules that imports apply. So an import accepts the exports that contain this
 * record.
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
