import { readFileRecord } from '../../../shared/exportFile/fileRecord.ts';
import { withAdditions } from '../../../shared/exportFile/organisationDraft.ts';
import { type ExportFileItem, ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { type NormalisedRecord, normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { passwordIssue } from '../../../shared/organisation/passwords.ts';
import { nestedRecords, type OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planRecord, type RecordPlan, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { withStated } from '../../../shared/organisation/statedContent.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { chunksInTurns, isTurnOver, yieldToEventLoop } from '../../../shared/turns.ts';
import type { Writing } from '../importRun.ts';
import { failed, repetitionIssue } from '../incomingRecord.ts';
import { EarlierRecords } from './earlierRecords.ts';
import { RecordWriter } from './recordWriter.ts';
import type { TargetOrganisation, Targets } from './writeOrganisations.ts';

/**
 * Writes the records of one phase.
 * @param read the sections that have or hold the phase's records
 * @throws the signal's reason, once the batches in flight are written
 */
export async function writePhase(
  writing: Writing,
  targets: Targets,
  phase: Section['phase'],
  read: ReadonlySet<Section>,
): Promise<void> {
  const { source, signal, report } = writing;
  // With `report`, no stored record is changed.
  using earlier = writing.onConflict === 'report' ? undefined : new EarlierRecords();
  const planner = new PhasePlanner(writing, targets, phase, earlier);
  const reader = new ExportFileReader((name) => {
    const section = findSection(name);
    return section !== undefined && read.has(section);
  });
  await using writer = new RecordWriter(writing, ({ plan, outcome }) => report.add(plan.record, outcome));
  // The embedded database is synchronous: without turns no timer fires, not even the timeout.
  for await (const chunk of chunksInTurns(source.open(signal))) {
    const plans: RecordPlan[] = [];
    for (const item of reader.push(chunk)) {
      if (isTurnOver()) await yieldToEventLoop();
      for (const plan of planner.plan(item)) plans.push(plan);
    }
    await writer.add(plans);
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
}

/** Plans the records of one phase in the file's order, and reports those that are not to be written. */
class PhasePlanner {
  private readonly writing: Writing;
  private readonly targets: Targets;
  private readonly phase: Section['phase'];
  private readonly earlier: EarlierRecords | undefined;

  constructor(writing: Writing, targets: Targets, phase: Section['phase'], earlier: EarlierRecords | undefined) {
    this.writing = writing;
    this.targets = targets;
    this.phase = phase;
    this.earlier = earlier;
  }

  /** Plans the records of an item of the file: its own record in that record's phase, those that it holds in theirs. */
  plan(item: ExportFileItem): RecordPlan[] {
    const { organisation: entry } = item;
    const section = findSection(item.name);
    if (section === undefined || entry === undefined || this.writing.inspection.entries[entry] === undefined) return [];
    const target = this.targets.get(entry);
    const record = this.read(section, item, target);
    if (section.phase === this.phase) return this.planNext(record, target);
    if (record.invalid !== undefined && target !== undefined) return this.leaveOut(record);
    const parent = normaliseRecord(record).record;
    return nestedRecords(record, item.path).flatMap((nested) => this.planNext({ ...nested.record, parent }, target));
  }

  /** Reads a record. If some record of its section is invalid, its rules are checked once more. */
  private read(section: Section, item: ExportFileItem, target: TargetOrganisation | undefined): OrganisationRecord {
    const checked = this.writing.inspection.invalid.has(section.name);
    if (target === undefined) return readFileRecord(section, item, { orgId: '', checked }, item.value);
    const { orgId, additions } = target.header;
    const complete = (value: unknown) => withAdditions(section, value, additions);
    return readFileRecord(section, item, { orgId, checked, complete }, item.value);
  }

  /** Counts the records that an invalid one contains. */
  private leaveOut(record: OrganisationRecord): RecordPlan[] {
    for (const nested of nestedRecords(record, [])) this.writing.report.count('notCarried', nested.record.section.name);
    return [];
  }

  /** Plans the phase's next record. */
  private planNext(given: OrganisationRecord, target: TargetOrganisation | undefined): RecordPlan[] {
    const { report } = this.writing;
    const { section } = given;
    if (target === undefined) {
      report.count('failed', section.name);
      return [];
    }
    if (given.invalid !== undefined) {
      report.add(given, failed(given.invalid));
      return [];
    }
    const { record, issue: valueIssue } = this.convert(given, target);
    const isExcluded = this.earlier?.excludes(record) === true;
    const issue = isExcluded ? repetitionIssue(section) : (valueIssue ?? this.validate(record, target));
    if (issue === undefined) return [planRecord(record, target.loginNamesByDomain)];
    report.add(record, issue === 'notCarried' ? { kind: issue } : failed(issue));
    return [];
  }

  /** Converts a record's values, and unsets a field that its organisation's other records keep it from having. */
  private convert(given: OrganisationRecord, target: TargetOrganisation): NormalisedRecord {
    const { adjusted, v1 } = given.section;
    const isLast = (mark: string) => target.header.lastMarked.get(mark) === documentPath(recordKey(given));
    const adjustment = adjusted?.adjust(given.json, isLast, target);
    const { record, ...result } = normaliseRecord(given, adjustment && adjusted?.field);
    const stated = withStated(record, this.writing.inspection.stated);
    const adjusting = adjustment === undefined ? stated : { ...stated, adjustment };
    if (this.writing.source.isV1 !== true || v1?.convert === undefined) return { ...result, record: adjusting };
    // ZITADEL names a record of a v1 file as it is in v2.
    const { given: _, ...named } = adjusting;
    return { ...result, record: named };
  }

  /** Validates a record in isolation: by its section's check, and by the policy for its clear-text password. */
  private validate(
    { section, json, givenPassword }: OrganisationRecord,
    { passwordComplexity }: TargetOrganisation,
  ): RecordIssue | 'notCarried' | undefined {
    const { stamp, passwordHashing } = this.writing;
    const issue = section.check?.(json, stamp);
    if (issue !== undefined || givenPassword === undefined) return issue;
    return passwordIssue(passwordComplexity, passwordHashing, givenPassword);
  }
}
