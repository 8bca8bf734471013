import { readFileRecord } from '../../../shared/exportFile/fileRecord.ts';
import { withAdditions } from '../../../shared/exportFile/organisationDraft.ts';
import type { ExportFileItem } from '../../../shared/exportFile/reader.ts';
import { findSection } from '../../../shared/organisation/allSections.ts';
import { type NormalisedRecord, normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { passwordIssue } from '../../../shared/organisation/passwordRules.ts';
import { nestedRecords, type OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planRecord, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { withStated } from '../../../shared/organisation/statedContent.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { ImportContext } from '../context.ts';
import { failed, type Planned, repetitionIssue } from '../stages.ts';
import type { EarlierRecords } from './earlierRecords.ts';
import type { TargetOrganisation, Targets } from './targets.ts';

type PlanContext = Pick<ImportContext, 'source' | 'inspection' | 'rules' | 'state'>;

/** Plans the records of one phase in the file's order, and reports the records that the import does not write. */
export class PhasePlanner {
  private readonly context: PlanContext;
  private readonly targets: Targets;
  private readonly phase: Section['phase'];
  private readonly earlier: EarlierRecords | undefined;

  constructor(context: PlanContext, targets: Targets, phase: Section['phase'], earlier: EarlierRecords | undefined) {
    this.context = context;
    this.targets = targets;
    this.phase = phase;
    this.earlier = earlier;
  }

  /**
   * Plans those records of a file's item that belong to this phase: the record of the item itself, or the records
   * nested in the item.
   */
  plan(item: ExportFileItem): Planned[] {
    const { organisation: entry } = item;
    const section = findSection(item.name);
    if (section === undefined || entry === undefined || this.context.inspection.entries[entry] === undefined) return [];
    const target = this.targets.get(entry);
    const record = this.read(section, item, target);
    if (section.phase === this.phase) return this.planNext(record, target);
    if (record.invalid !== undefined && target !== undefined) return this.leaveOut(record);
    const parent = normaliseRecord(record).record;
    return nestedRecords(record, item.path).flatMap((nested) => this.planNext({ ...nested.record, parent }, target));
  }

  /**
   * Reads a record of the file. The validation has already checked the file, so this function checks the record only if
   * the validation found an invalid record of this section.
   */
  private read(section: Section, item: ExportFileItem, target: TargetOrganisation | undefined): OrganisationRecord {
    const checked = this.context.inspection.invalid.has(section.name);
    if (target === undefined) return readFileRecord(section, item, { orgId: '', checked }, item.value);
    const { orgId, additions } = target.header;
    const complete = (value: unknown) => withAdditions(section, value, additions);
    return readFileRecord(section, item, { orgId, checked, complete }, item.value);
  }

  /** Reports the records nested in an invalid record: the import does not write them. */
  private leaveOut(record: OrganisationRecord): Planned[] {
    for (const nested of nestedRecords(record, []))
      this.context.state.report.count('notCarried', nested.record.section.name);
    return [];
  }

  private planNext(fileRecord: OrganisationRecord, target: TargetOrganisation | undefined): Planned[] {
    const { report } = this.context.state;
    const { section } = fileRecord;
    if (target === undefined) {
      report.count('failed', section.name);
      return [];
    }
    if (fileRecord.invalid !== undefined) {
      report.add(fileRecord, failed(fileRecord.invalid));
      return [];
    }
    const { record, issue: valueIssue } = this.convert(fileRecord, target);
    const isExcluded = this.earlier?.excludes(record) === true;
    const issue = isExcluded ? repetitionIssue(section) : valueIssue;
    const rejection = issue === undefined ? this.validate(record, target) : undefined;
    if (issue !== undefined || rejection === 'notCarried') {
      report.add(record, issue === undefined ? { kind: 'notCarried' } : failed(issue));
      return [];
    }
    const plan = planRecord(record, target.loginNamesByDomain);
    return [rejection === undefined ? plan : { ...plan, rejection }];
  }

  /**
   * Converts a record's values. Some fields, such as a domain's primary mark, can be set in only one record of an
   * organisation. Removes such a field if another record must have it.
   */
  private convert(fileRecord: OrganisationRecord, target: TargetOrganisation): NormalisedRecord {
    const { adjusted, v1 } = fileRecord.section;
    const adjustment = adjusted?.adjust(
      fileRecord.json,
      (mark) => target.header.lastMarked.get(mark) === documentPath(recordKey(fileRecord)),
      target,
    );
    const result = normaliseRecord(fileRecord, adjustment && adjusted?.field);
    const stated = withStated(result.record, this.context.inspection.stated);
    const adjusting = adjustment === undefined ? stated : { ...stated, adjustment };
    if (this.context.source.isV1 !== true || v1?.convert === undefined) return { ...result, record: adjusting };
    // For a v1 file, ZITADEL's errors contain the converted values of a record. So remove `given`, which contains the
    // values before the conversion.
    const { given: _, ...named } = adjusting;
    return { ...result, record: named };
  }

  private validate(
    { section, json, givenPassword }: OrganisationRecord,
    { passwordComplexity }: TargetOrganisation,
  ): RecordIssue | 'notCarried' | undefined {
    const issue = section.check?.(json, this.context.rules.stamp);
    if (issue !== undefined || givenPassword === undefined) return issue;
    return passwordIssue(passwordComplexity, givenPassword);
  }
}
