import { issueParams } from '../../../shared/errors/issueText.ts';
import { recordNoun } from '../../../shared/errors/nouns.ts';
import type { Meaning } from '../../../shared/errors/recordIssues.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { organisationFilter } from '../../../shared/exportFile/organisationFilter.ts';
import type { ExportFileSource } from '../../../shared/exportFile/reader.ts';
import { describeContent } from '../../../shared/organisation/describedRecord.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { Collection } from '../../../shared/store/store.ts';
import { identifyingKey } from '../plan/earlierRecords.ts';

interface NamedRecord {
  readonly type: string;
  readonly collection: Collection;
  readonly orgId: string;
  readonly name: string;
}

export interface Repetition extends NamedRecord {
  readonly key: string;
}

export function repetitionOf(record: OrganisationRecord): Repetition {
  return { ...named(record), key: identifyingKey(record) };
}

function named({ section, json, orgId }: OrganisationRecord): NamedRecord {
  const { type, name } = describeContent(section, json, orgId);
  return { type, collection: section.collection, orgId, name };
}

interface RepetitionReport {
  /** The first repeated records. The key is the index of the record's error in the report. */
  readonly repetitions: ReadonlyMap<number, Repetition>;
  explainError(position: number, meaning: Meaning): void;
}

interface ReportedFile {
  readonly source: ExportFileSource;
  readonly settings: Parameters<typeof organisationFilter>[0];
  readonly report: RepetitionReport;
  readonly signal: AbortSignal;
}

/**
 * Completes the errors about repeated ids: each error then describes the record and the earlier record. Leaves an error
 * unchanged if both records have the same kind, name and organisation. If the report contains errors about repeated
 * ids, reads the file a second time, because only the file contains the names of both records.
 */
export async function nameRepetitions({ source, settings, report, signal }: ReportedFile): Promise<void> {
  const { repetitions } = report;
  if (repetitions.size === 0) return;
  const wanted = new Set(Array.from(repetitions.values(), ({ key }) => key));
  const collections = new Set(Array.from(repetitions.values(), ({ collection }) => collection));
  const firsts = new Map<string, NamedRecord>();
  const visitor = {
    add: (fileRecord: OrganisationRecord) => {
      if (fileRecord.invalid !== undefined || !collections.has(fileRecord.section.collection)) return;
      const { record } = normaliseRecord(fileRecord);
      const key = identifyingKey(record);
      if (wanted.has(key) && !firsts.has(key)) firsts.set(key, named(record));
    },
    reset: () => firsts.clear(),
  };
  await inspect(source, signal, { isSelected: organisationFilter(settings), visitor });
  for (const [position, repetition] of repetitions) {
    const first = firsts.get(repetition.key);
    if (first === undefined || isSame(first, repetition)) continue;
    const params = issueParams({
      holder: `the ${nounWithName(first)}`,
      owner: `organisation ${first.orgId}`,
      record: nounWithName(repetition),
      organisation: repetition.orgId,
    });
    report.explainError(position, { reason: 'id_repeated', params });
  }
}

function isSame(first: NamedRecord, other: NamedRecord): boolean {
  return first.type === other.type && first.name === other.name && first.orgId === other.orgId;
}

function nounWithName({ type, name }: NamedRecord): string {
  return [recordNoun(type), name].filter((text) => text !== '').join(' ');
}
