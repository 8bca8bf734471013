import { type JsonPath, parseJson } from '../../../shared/json/jsonScanner.ts';
import { type PasswordComplexity, passwordIssue } from '../../../shared/organisation/passwords.ts';
import { heldRecords, type OrganisationRecord, readRecord } from '../../../shared/organisation/record.ts';
import { planRecord, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { type SettledRecord, settleRecord } from '../../../shared/organisation/settleRecord.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { ExportFileSource, Inspection } from '../inspect/inspection.ts';
import { type OrganisationHeader, withAdditions } from '../inspect/organisationDraft.ts';
import type { RepeatedRecords } from '../inspect/repeatedRecords.ts';
import type { PlacedPlan } from '../outcome.ts';
import type { ImportReport } from '../results/report.ts';
import type { ImportProgress } from '../resume/importProgress.ts';
import type { ExportFileItem } from '../source/exportFileReader.ts';
import type { BatchContext } from './batchContext.ts';
import type { TargetOrganisation, Targets } from './organisations.ts';

/** The state that planning shares with an import's phases. */
export interface PlanningState {
  readonly context: BatchContext;
  readonly source: ExportFileSource;
  readonly targets: Targets;
  /** The positions of the file's entries among the imported organisations; undefined for those left out. */
  readonly entries: Inspection['entries'];
  readonly repeated: Pick<RepeatedRecords, 'has'>;
  readonly report: ImportReport;
  readonly progress: ImportProgress;
}

/** A phase, and the ordinal of its next record in the file. */
export interface PhaseCounter {
  readonly phase: Section['phase'];
  next: number;
}

/** A record of the file. */
interface FileRecord {
  readonly section: Section;
  readonly path: JsonPath;
  readonly read: (header: OrganisationHeader) => OrganisationRecord;
}

/**
 * Plans the records of an item of the file: its own record in that record's phase, those that it holds in theirs.
 * Reports the records that are not to be written.
 */
export function planItem(work: PlanningState, counter: PhaseCounter, item: ExportFileItem): PlacedPlan[] {
  const { organisation: entry, path } = item;
  const section = findSection(item.name);
  if (section === undefined || entry === undefined || work.entries[entry] === undefined) return [];
  const target = work.targets.get(entry);
  if (section.phase === counter.phase) {
    const read = (header: OrganisationHeader) => readItem(section, item, header);
    return planNext(work, counter, target, { section, path, read });
  }
  const given = readItem(section, item, target?.header);
  const holder = settleRecord(given).record;
  return heldRecords(given, path).flatMap(({ record, path: heldPath }) => {
    const read = () => ({ ...record, holder });
    return planNext(work, counter, target, { section: record.section, path: heldPath, read });
  });
}

function readItem(section: Section, { text, path }: ExportFileItem, header?: OrganisationHeader): OrganisationRecord {
  const value = parseJson(text, path);
  if (header === undefined) return readRecord(section, value, '');
  return readRecord(section, withAdditions(section, value, header.additions), header.orgId);
}

/** Plans the phase's next record. */
function planNext(
  work: PlanningState,
  counter: PhaseCounter,
  target: TargetOrganisation | undefined,
  { section, path, read }: FileRecord,
): PlacedPlan[] {
  const { report } = work;
  const ordinal = counter.next++;
  if (!work.progress.forPhase(counter.phase).open(ordinal)) {
    report.count('unchanged', section.name);
    return [];
  }
  if (target === undefined) {
    report.count('failed', section.name);
    return [];
  }
  const { organisation, header, loginNamesByDomain, passwordComplexity } = target;
  const { record, issue: valueIssue } = settle(read(header), target, work.source);
  const issue = work.repeated.has(path)
    ? section.error.exists
    : (valueIssue ?? validateRecord(record, passwordComplexity, work.context));
  if (issue === undefined) return [{ organisation, ordinal, plan: planRecord(record, loginNamesByDomain) }];
  const outcome = issue === 'notCarried' ? { kind: issue } : { kind: 'failed' as const, issue };
  const revisit = report.add(organisation, record, outcome);
  work.progress.settle(counter.phase, ordinal, { written: false, revisit });
  return [];
}

/** Converts a record's values, and unsets a field that its organisation's other records keep it from having. */
function settle(given: OrganisationRecord, target: TargetOrganisation, { isV1 }: ExportFileSource): SettledRecord {
  const { section, json } = given;
  const isLast = (mark: string) => target.header.lastMarked.get(mark) === documentPath(recordKey(given));
  const adjustment = section.adjust?.(json, isLast, target);
  const settled = settleRecord(given, adjustment === undefined ? [] : [adjustment.unset]);
  // ZITADEL names a record of a v1 file as it is in v2.
  const { given: _, ...converted } = settled.record;
  const named = isV1 === true && section.v1?.convert !== undefined ? converted : settled.record;
  return { ...settled, record: adjustment === undefined ? named : { ...named, adjustment } };
}

/** Validates a record in isolation: by its section's check, and by the policy for its clear-text password. */
function validateRecord(
  { section, json, givenPassword }: OrganisationRecord,
  policy: PasswordComplexity,
  { stamp, passwordHashing }: BatchContext,
): RecordIssue | 'notCarried' | undefined {
  const issue = section.check?.(json, stamp);
  return issue ?? (givenPassword === undefined ? undefined : passwordIssue(policy, passwordHashing, givenPassword));
}
