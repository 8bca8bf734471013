// Writes a file that the user can correct and import. It contains the records that an import rejected or stored
// incompletely.

import { total } from '../../shared/collections/counts.ts';
import type { WarningReason } from '../../shared/errors/warnings.ts';
import { type FilePass, passFile } from '../../shared/exportFile/filePass.ts';
import type { ExportFileItem } from '../../shared/exportFile/reader.ts';
import type { JsonPath } from '../../shared/json/jsonError.ts';
import { findSection, organisationSection, sections } from '../../shared/organisation/allSections.ts';
import { nestedRecords, type OrganisationRecord } from '../../shared/organisation/record.ts';
import { readableId } from '../../shared/organisation/recordPlan.ts';
import type { ImportResponse } from './importResponse.ts';
import type { ExportFile, FilePlace } from './placeInterfaces.ts';

export interface FailedFile {
  readonly place: string;
  readonly records: number;
  /**
   * The number of failed records that the file lacks, because the response does not list them or their text is too
   * large.
   */
  readonly missing: number;
  /** The number of records in the file that the import stored without some of their roles, actions or list elements. */
  readonly partial: number;
}

/**
 * Reasons of warnings that an import has stored a record without some of its parts. These parts are invalid, or refer
 * to a failed record.
 */
const partialReasons: ReadonlySet<string> = new Set<WarningReason>([
  'role_dropped',
  'action_dropped',
  'element_invalid',
]);

/**
 * Stores a file with the failed records of an import and their organisations, in the form of the imported file. Stores
 * no file if the import stored every record completely.
 * @throws IdentityError if `FilePlace.store` throws it, or if the content cannot be read
 */
export async function storeFailed(
  file: FilePlace,
  content: ExportFile,
  response: ImportResponse,
  signal: AbortSignal,
): Promise<FailedFile | undefined> {
  const failed = total(response.summary.failed);
  const records = new FailedRecords(response);
  if (failed === 0 && records.isEmpty) return undefined;
  const first = await find(content, records, signal);
  const isEarly = first.drafts.some(({ hasEarlyRecords }) => hasEarlyRecords);
  if (isEarly) records.reset();
  const { drafts } = isEarly ? await find(content, records, signal, first.drafts) : first;
  const writing = new FailedFileWriter(records, drafts);
  const { place } = await file.store(writing.json(content, signal), signal);
  return { place, records: writing.records, missing: Math.max(0, failed - writing.records), partial: writing.partial };
}

/**
 * Reads the imported file, and counts the records to which each error can belong. These are the records with the type
 * and the id in the error.
 */
async function find(
  content: ExportFile,
  failed: FailedRecords,
  signal: AbortSignal,
  knownDrafts?: FilePass['drafts'],
): Promise<FilePass> {
  const onRecord = (_: OrganisationRecord, path: JsonPath, whole: OrganisationRecord) => failed.find(whole, path);
  const pass = passFile(content, signal, { onRecord, knownDrafts });
  for (;;) {
    const { done, value } = await pass.next();
    if (done === true) return value;
  }
}

/**
 * Counts of the records that have the same type and id in a file. `records` counts all of them during the first
 * reading. During the second reading, `passed` counts the valid records that were read so far.
 */
interface Namesakes {
  readonly errors: number;
  records: number;
  /** The number of invalid records, which every import rejects. */
  invalid: number;
  passed: number;
}

/** Several records can match an error, because the response contains only a failed record's type and id. */
class FailedRecords {
  private readonly byName = new Map<string, Namesakes>();
  /**
   * The organisations about which the response lists errors. The target does not have the organisations in `missing`,
   * so all their records have failed.
   */
  private readonly orgIds = new Set<string>();
  private readonly missing: ReadonlySet<string>;
  private readonly partial: ReadonlySet<string>;
  /**
   * The indexes of the organisations to write, in the order of the file. Some records of each organisation failed, or
   * were stored incompletely.
   */
  readonly entries = new Set<number>();

  constructor({ errors = [], success, summary }: ImportResponse) {
    for (const { type, id = '' } of errors) {
      const recordType = typeOfRecord(type);
      if (recordType === organisationSection.error.type) this.orgIds.add(id);
      const name = nameOf(recordType, id);
      const errorsOfParts = recordType !== type && this.byName.has(name);
      const earlierErrors = this.byName.get(name)?.errors ?? 0;
      this.byName.set(name, {
        errors: errorsOfParts ? earlierErrors : earlierErrors + 1,
        records: 0,
        invalid: 0,
        passed: 0,
      });
    }
    this.missing = this.orgIds.difference(new Set(success.orgs?.map(({ orgId }) => orgId)));
    const partial = summary.warnings.filter(({ reason }) => partialReasons.has(reason));
    this.partial = new Set(partial.map(({ type, id = '' }) => nameOf(type, id)));
  }

  get isEmpty(): boolean {
    return this.byName.size === 0 && this.partial.size === 0;
  }

  reset(): void {
    this.entries.clear();
    for (const [name, { errors }] of this.byName) this.byName.set(name, { errors, records: 0, invalid: 0, passed: 0 });
  }

  find(record: OrganisationRecord, [, entry]: JsonPath): void {
    const named = this.named(record);
    if (named.length === 0 && !this.missing.has(record.orgId) && !this.isPartial(record)) return;
    this.entries.add(Number(entry));
    for (const { namesakes, isInvalid } of named) {
      namesakes.records++;
      if (isInvalid) namesakes.invalid++;
    }
  }

  /**
   * Counts the failed records among the given record and its nested records. If several valid records have the same id,
   * the import accepts the first, so the errors belong to the later records. If the target lacks the organisation, all
   * its records have failed.
   */
  countIn(record: OrganisationRecord): number {
    const named = this.named(record);
    const failed = named.filter(({ namesakes, isInvalid }) => {
      if (isInvalid) return true;
      namesakes.passed++;
      const { errors, records, invalid, passed } = namesakes;
      return passed > records - invalid - Math.max(0, errors - invalid);
    });
    return this.missing.has(record.orgId) ? 1 + nestedRecords(record, []).length : failed.length;
  }

  isPartial(record: OrganisationRecord): boolean {
    return this.partial.has(nameOf(record.section.error.type, readableId(record) ?? ''));
  }

  addOrganisations(drafts: FilePass['drafts']): number {
    const presentIds = new Set<string>();
    for (const [entry, { orgId = '' }] of drafts.entries()) {
      if (!this.orgIds.has(orgId)) continue;
      presentIds.add(orgId);
      this.entries.add(entry);
    }
    return presentIds.size;
  }

  /**
   * Returns the counts for the given record and for each of its nested records. Leaves out records about which the
   * response lists no errors.
   */
  private named(record: OrganisationRecord) {
    return [record, ...nestedRecords(record, []).map((nested) => nested.record)].flatMap((each) => {
      const namesakes = this.byName.get(nameOf(each.section.error.type, readableId(each) ?? ''));
      return namesakes === undefined ? [] : [{ namesakes, isInvalid: each.invalid !== undefined }];
    });
  }
}

function nameOf(type: string, id: string): string {
  return JSON.stringify([type, id]);
}

const types: readonly string[] = [organisationSection, ...sections].map(({ error }) => error.type);

/**
 * Returns the type of the record. The type in an error may describe only a part of the record, such as
 * `human_user_otp`.
 */
function typeOfRecord(type: string): string {
  if (types.includes(type)) return type;
  return types.filter((each) => type.startsWith(`${each}_`)).sort((a, b) => b.length - a.length)[0] ?? type;
}

class FailedFileWriter {
  records: number;
  partial = 0;
  private readonly failed: FailedRecords;
  private readonly drafts: FilePass['drafts'];
  private entry: number | undefined;
  private list: string | undefined;

  constructor(failed: FailedRecords, drafts: FilePass['drafts']) {
    this.failed = failed;
    this.drafts = drafts;
    this.records = failed.addOrganisations(drafts);
  }

  async *json(content: ExportFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let items: readonly ExportFileItem[] = [];
    const kept = new Set<JsonPath>();
    const onRecord = (_: OrganisationRecord, path: JsonPath, whole: OrganisationRecord) => {
      const count = this.failed.countIn(whole);
      const isPartial = count === 0 && this.failed.isPartial(whole);
      if (count > 0 || isPartial) kept.add(path);
      this.records += count;
      if (isPartial) this.partial++;
    };
    const onItems = (read: readonly ExportFileItem[]) => {
      items = read;
    };
    yield Buffer.from('{"orgs":[');
    const pass = passFile(content, signal, { onRecord, onItems, knownDrafts: this.drafts });
    for await (const _chunk of pass) {
      const text = items.map((item) => this.textOf(item, kept)).join('');
      kept.clear();
      if (text !== '') yield Buffer.from(text);
    }
    yield Buffer.from(`${this.end()}]}\n`);
  }

  private textOf(item: ExportFileItem, kept: ReadonlySet<JsonPath>): string {
    const { organisation: entry, path, text } = item;
    if (entry === undefined || !this.failed.entries.has(entry)) return '';
    const section = findSection(item.name);
    if (section !== undefined && !kept.has(path)) return '';
    if (item.isTooLarge === true) {
      this.records--;
      return '';
    }
    const field = String(path[2]);
    const isElement = path.length > 3;
    if (this.entry === entry && this.list === field && isElement) return `,\n${text}`;
    const beginning = this.entry === entry ? `${this.endOfList()},` : this.begin(entry);
    this.list = isElement ? field : undefined;
    return `${beginning}\n${JSON.stringify(field)}:${isElement ? '[' : ''}${text}`;
  }

  private begin(entry: number): string {
    const end = this.end();
    this.entry = entry;
    return end === '' ? '{' : `${end},\n{`;
  }

  private endOfList(): string {
    return this.list === undefined ? '' : ']';
  }

  private end(): string {
    const end = this.entry === undefined ? '' : `${this.endOfList()}}`;
    this.list = undefined;
    return end;
  }
}
