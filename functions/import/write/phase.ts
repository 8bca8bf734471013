import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import { type OrganisationHeader, withAdditions } from '../../../shared/exportFile/organisationDraft.ts';
import { type ExportFileItem, ExportFileReader, type ExportFileSource } from '../../../shared/exportFile/reader.ts';
import { parseJson } from '../../../shared/json/jsonScanner.ts';
import { type NormalisedRecord, normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { passwordIssue } from '../../../shared/organisation/passwords.ts';
import { nestedRecords, type OrganisationRecord, readRecord } from '../../../shared/organisation/record.ts';
import { planRecord, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { chunksInTurns, itemsInTurns } from '../../../shared/turns.ts';
import { type Outcome, type PlacedPlan, repetitionIssue } from '../outcome.ts';
import type { ImportReport } from '../results/report.ts';
import type { BatchContext } from './batchContext.ts';
import { EarlierRecords } from './earlierRecords.ts';
import type { TargetOrganisation, Targets } from './organisations.ts';
import { RecordWriter } from './recordWriter.ts';

/** The state that the phases of one import share. */
export interface ImportWork {
  readonly context: BatchContext;
  readonly source: ExportFileSource;
  readonly inspection: Inspection;
  readonly targets: Targets;
  readonly report: ImportReport;
}

/**
 * Writes the records of one phase.
 * @param read the sections that have or hold the phase's records
 * @throws the signal's reason, once the batches in flight are written
 */
export async function writePhase(work: ImportWork, phase: Section['phase'], read: ReadonlySet<Section>): Promise<void> {
  const { source, context } = work;
  const { signal } = context;
  // With `report`, no stored record is changed.
  using earlier = context.onConflict === 'report' ? undefined : new EarlierRecords();
  const planner = new PhasePlanner(work, phase, earlier);
  const reader = new ExportFileReader((name) => {
    const section = findSection(name);
    return section !== undefined && read.has(section);
  });
  await using writer = new RecordWriter(context, ({ plan, outcome }) => planner.settle(plan, outcome));
  // The embedded database is synchronous: without turns no timer fires, not even the timeout.
  for await (const chunk of chunksInTurns(source.open(signal))) {
    for await (const item of itemsInTurns(reader.push(chunk))) await writer.add(planner.plan(item));
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
}

/** Plans the records of one phase in the file's order, and reports their outcomes. */
class PhasePlanner {
  private readonly work: ImportWork;
  private readonly phase: Section['phase'];
  private readonly earlier: EarlierRecords | undefined;

  constructor(work: ImportWork, phase: Section['phase'], earlier: EarlierRecords | undefined) {
    this.work = work;
    this.phase = phase;
    this.earlier = earlier;
  }

  /**
   * Plans the records of an item of the file: its own record in that record's phase, those that it holds in theirs.
   * Reports the records that are not to be written.
   */
  plan(item: ExportFileItem): PlacedPlan[] {
    const { organisation: entry } = item;
    const { inspection, targets } = this.work;
    const section = findSection(item.name);
    if (section === undefined || entry === undefined || inspection.entries[entry] === undefined) return [];
    const target = targets.get(entry);
    if (section.phase === this.phase)
      return this.planNext(section, target, () => readItem(section, item, target?.header));
    const given = readItem(section, item, target?.header);
    const parent = normaliseRecord(given).record;
    return nestedRecords(given, item.path).flatMap(({ record }) =>
      this.planNext(record.section, target, () => ({ ...record, parent })),
    );
  }

  /** Reports a record's outcome. */
  settle({ organisation, record }: Pick<PlacedPlan, 'organisation' | 'record'>, outcome: Outcome): void {
    this.work.report.add(organisation, record, outcome);
  }

  /** Plans the phase's next record. */
  private planNext(
    section: Section,
    target: TargetOrganisation | undefined,
    read: () => OrganisationRecord,
  ): PlacedPlan[] {
    if (target === undefined) {
      this.work.report.count('failed', section.name);
      return [];
    }
    const { record, issue: valueIssue } = this.convert(read(), target);
    const isExcluded = this.earlier?.excludes(record) === true;
    const issue = isExcluded ? repetitionIssue(section) : (valueIssue ?? this.validate(record, target));
    const { organisation, loginNamesByDomain } = target;
    if (issue === undefined) return [{ organisation, ...planRecord(record, loginNamesByDomain) }];
    this.settle({ organisation, record }, issue === 'notCarried' ? { kind: issue } : { kind: 'failed', issue });
    return [];
  }

  /** Converts a record's values, and unsets a field that its organisation's other records keep it from having. */
  private convert(given: OrganisationRecord, target: TargetOrganisation): NormalisedRecord {
    const { section, json } = given;
    const isLast = (mark: string) => target.header.lastMarked.get(mark) === documentPath(recordKey(given));
    const adjustment = section.adjust?.(json, isLast, target);
    const normalised = normaliseRecord(given, adjustment === undefined ? [] : [adjustment.unset]);
    // ZITADEL names a record of a v1 file as it is in v2.
    const { given: _, ...converted } = normalised.record;
    const named = this.work.source.isV1 === true && section.v1?.convert !== undefined ? converted : normalised.record;
    return { ...normalised, record: adjustment === undefined ? named : { ...named, adjustment } };
  }

  /** Validates a record in isolation: by its section's check, and by the policy for its clear-text password. */
  private validate(
    { section, json, givenPassword }: OrganisationRecord,
    { passwordComplexity }: TargetOrganisation,
  ): RecordIssue | 'notCarried' | undefined {
    const { stamp, passwordHashing } = this.work.context;
    const issue = section.check?.(json, stamp);
    if (issue !== undefined || givenPassword === undefined) return issue;
    return passwordIssue(passwordComplexity, passwordHashing, givenPassword);
  }
}

function readItem(section: Section, { text, path }: ExportFileItem, header?: OrganisationHeader): OrganisationRecord {
  const value = parseJson(text, path);
  if (header === undefined) return readRecord(section, value, '');
  return readRecord(section, withAdditions(section, value, header.additions), header.orgId);
}
