import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { addCounts, type Counts, increase, total } from '../../../shared/collections/counts.ts';
import { withoutEmpty } from '../../../shared/defined.ts';
import type { Meaning } from '../../../shared/errors/recordIssues.ts';
import { type JsonObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { MAX_LISTED_ISSUES, toRecordError, withShortTexts } from '../../../shared/organisation/recordErrors.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { LockHolder } from '../../../shared/store/lock/instanceLock.ts';
import type { Deletion, ImportError, ImportResponse, ImportWarning } from '../contract.ts';
import { isWritten, type RecordOutcome } from '../stages.ts';
import { collectWarnings } from './recordWarnings.ts';
import { remainingMs } from './remainingTime.ts';
import { type Repetition, repetitionOf } from './repeatedRecords.ts';

interface ImportFacts {
  readonly deletions?: readonly Deletion[];
  /** True if a manifest in the file proved that the file is complete and unchanged. */
  readonly proved: boolean;
  readonly dryRun: boolean;
}

const MAX_LISTED_IDS = 100_000;
/** The maximum number of repeated records whose names the report keeps in memory. */
const MAX_REPETITIONS = 1_000;

export class ImportReport {
  /** Phase 1 writes the organisations. */
  phase = 1;
  private startedAt: number | undefined;
  waitingFor: LockHolder | undefined;
  /** The number of records to import for each section; undefined until the whole file is read. */
  total: Counts | undefined;
  /** The estimated duration of the import in milliseconds. The estimate assumes that all records are new. */
  expectedMs = 0;
  /** The counts of records that a mirroring import has deleted so far. */
  deletions: { readonly done: Counts } | undefined;
  private readonly errors = new BoundedList<ImportError>(MAX_LISTED_ISSUES);
  /**
   * The entries of `success` in the response. The key is the organisation's id. An entry lists the ids of the
   * organisation's imported records.
   */
  private readonly success = new Map<string, JsonObject & { orgId: string }>();
  private readonly counts: Record<RecordOutcome['kind'], Counts> = {
    created: {},
    unchanged: {},
    overwritten: {},
    skipped: {},
    failed: {},
    notCarried: {},
  };
  private readonly warnings = new BoundedList<ImportWarning>(MAX_LISTED_ISSUES);
  private readonly createdOrgs = new BoundedList<string>(MAX_LISTED_ISSUES);
  /**
   * The warnings about privileges, domains and states. They have a list of their own, so that many other warnings
   * cannot prevent the response from listing them.
   */
  private readonly writeWarnings = new BoundedList<ImportWarning>(MAX_LISTED_ISSUES);
  /**
   * The warnings about the request and the whole file. The response lists all of them, in addition to the limited
   * number of other warnings.
   */
  private readonly fileWarnings: ImportWarning[] = [];
  readonly repetitions = new Map<number, Repetition>();
  private readonly maxListedIds: number;
  private listed = 0;

  constructor({ ids = true }: { readonly ids?: boolean } = {}) {
    this.maxListedIds = ids ? MAX_LISTED_IDS : 0;
  }

  enterPhase(phase: number): void {
    this.phase = phase;
    this.startedAt ??= performance.now();
  }

  /**
   * The estimated milliseconds for the remaining records, from the speed so far. Until the speed is known, returns
   * `expectedMs`.
   */
  get remainingMs(): number {
    if (this.startedAt === undefined || this.total === undefined) return this.expectedMs;
    const { notCarried: _, ...settled } = this.counts;
    const records = total(Object.values(settled).reduce(addCounts, {}));
    return remainingMs(performance.now() - this.startedAt, { records, total: total(this.total) }) ?? this.expectedMs;
  }

  addFileWarning(warning: ImportWarning): void {
    this.fileWarnings.push(warning);
  }

  addOrganisation(orgId: string): void {
    this.success.set(orgId, { orgId });
  }

  add(record: OrganisationRecord, outcome: RecordOutcome): void {
    this.count(outcome.kind, record.section.name);
    const fieldError = record.adjustment?.error;
    if (outcome.kind === 'failed') this.addFailure(record, outcome.issue);
    else if (fieldError !== undefined) this.addError(toRecordError(record, fieldError.issue, fieldError.type));
    for (const warning of collectWarnings(record, outcome)) this.addWarning(warning);
    if (!isWritten(outcome)) return;
    if (outcome.kind === 'created' && record.section === organisationSection) this.createdOrgs.add(record.orgId);
    for (const warning of outcome.writeWarnings ?? []) this.writeWarnings.add(withShortTexts(warning));
    this.listId(record);
  }

  private addFailure(record: OrganisationRecord, issue: RecordIssue): void {
    if (issue.reason === 'record_repeated' && this.errors.size < MAX_REPETITIONS)
      this.repetitions.set(this.errors.size, repetitionOf(record));
    this.addError(toRecordError(record, issue));
  }

  addError(error: ImportError): void {
    this.errors.add(withShortTexts(error));
  }

  explainError(position: number, meaning: Meaning): void {
    const error = this.errors.entries[position];
    if (error !== undefined) this.errors.entries[position] = withShortTexts({ ...error, ...meaning });
  }

  count(kind: RecordOutcome['kind'], section: string, records = 1): void {
    increase(this.counts[kind], section, records);
  }

  get written(): Counts {
    const { created, overwritten } = this.counts;
    return addCounts(created, overwritten);
  }

  /** True if a record of the file failed, or if a stored record that should be deleted must stay. */
  get hasErrors(): boolean {
    return this.errors.size > 0 || hasAny(this.counts.failed);
  }

  get deletedRecords(): number {
    return total(this.deleted);
  }

  private get deleted(): Counts {
    return this.deletions?.done ?? {};
  }

  get records(): Record<string, Counts> {
    const entries = Object.entries({ ...this.counts, deleted: this.deleted }).filter(([, counts]) => hasAny(counts));
    return Object.fromEntries(entries.map(([kind, counts]) => [kind, { ...counts }]));
  }

  get totals(): Counts {
    const sums = Object.entries({ ...this.counts, deleted: this.deleted }).map(
      ([kind, counts]) => [kind, total(counts)] as const,
    );
    return Object.fromEntries(sums.filter(([, sum]) => sum > 0));
  }

  /** Returns the response, in which empty lists are omitted, as in ZITADEL. */
  toJson({ proved, dryRun, deletions = [] }: ImportFacts): ImportResponse {
    const { deleted } = this;
    const deletionsOmitted = total(deleted) - deletions.length;
    const omitted = this.listed > this.maxListedIds;
    const orgs = [...this.success.values()].map((org) => (omitted ? { orgId: org.orgId } : org));
    const { created, unchanged, overwritten, skipped, failed, notCarried } = this.counts;
    const warnings = [...this.writeWarnings.entries, ...this.warnings.entries].slice(0, MAX_LISTED_ISSUES);
    const warningsOmitted = this.writeWarnings.size + this.warnings.size - warnings.length;
    const summary = {
      created,
      ...withoutEmpty({ createdOrgs: this.createdOrgs.entries }),
      unchanged,
      ...withoutEmpty({ overwritten, skipped, deleted }),
      failed,
      notCarried,
      warnings: [...this.fileWarnings, ...warnings],
      proved,
      ...withoutEmpty({
        dryRun,
        idsOmitted: omitted,
        errorsOmitted: this.errors.omitted,
        warningsOmitted,
        deletionsOmitted,
      }),
    };
    return {
      ...withoutEmpty({ errors: this.errors.entries }),
      success: orgs.length === 0 ? {} : { orgs },
      summary,
      ...withoutEmpty({ deletions: [...deletions] }),
    };
  }

  addWarning(warning: ImportWarning): void {
    this.warnings.add(withShortTexts(warning));
  }

  private listId(record: OrganisationRecord): void {
    const { success } = record.section;
    const org = this.success.get(record.orgId);
    if (success === undefined || org === undefined) return;
    this.listed++;
    if (this.listed > this.maxListedIds) return;
    const entry = successEntry(record, success.entry);
    const list = org[success.field];
    if (Array.isArray(list)) list.push(entry);
    else org[success.field] = [entry];
  }
}

function hasAny(counts: Counts): boolean {
  return Object.keys(counts).length > 0;
}

/**
 * Returns a record's entry for a list in `success`. The entry contains ids as the file spells them, but lists as the
 * import stores them.
 */
function successEntry(
  { given, json, orgId }: OrganisationRecord,
  entry: readonly string[] | Readonly<Record<string, string>>,
) {
  if (Array.isArray(entry)) return entry.map((path: string) => textAt(given ?? json, path, orgId)).join('_');
  const values: JsonObject = {};
  for (const [name, path] of Object.entries(entry)) {
    const stored = valueAt(json, path);
    values[name] = Array.isArray(stored) ? stored : valueAt(given ?? json, path);
  }
  return values;
}
