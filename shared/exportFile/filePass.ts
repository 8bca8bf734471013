import { createHash } from 'node:crypto';
import { type FieldViolation, invalidRequest } from '../errors/errors.ts';
import { WhiteSpaceRun } from '../json/bytes.ts';
import { formatPath, JsonError, type JsonPath, withLine } from '../json/jsonError.ts';
import { isJsonObject, textAt } from '../json/jsonObject.ts';
import { schemaIssueReason } from '../json/schemaIssue.ts';
import { uniqueValue } from '../json/splitter.ts';
import { fixedLimits, TOO_MUCH_WHITE_SPACE } from '../limits.ts';
import { findSection } from '../organisation/allSections.ts';
import type { OrganisationRecord } from '../organisation/record.ts';
import { MAX_ISSUES } from '../organisation/rules.ts';
import { isList, type Section } from '../organisation/sections/section.ts';
import type { UnknownContent } from '../organisation/unknownContent.ts';
import { chunksInTurns, isTurnOver, yieldToEventLoop } from '../turns.ts';
import { readFileRecord } from './fileRecord.ts';
import { type Manifest, ManifestTally, manifestSchema } from './manifest.ts';
import { OrganisationDraft, withAdditions } from './organisationDraft.ts';
import { type ExportFileItem, ExportFileReader, type ExportFileSource } from './reader.ts';

export interface FilePass {
  /**
   * The content of the entries in `orgs`. If the options have `onEntry`, the entries that it has received are removed
   * from this list.
   */
  readonly drafts: OrganisationDraft[];
  /** The number of entries that `onEntry` has received. */
  taken: number;
  readonly tally: ManifestTally;
  readonly unknown: UnknownFields;
  manifest: Manifest | undefined;
  /** The SHA-256 hash of the whole file, in base64url. */
  digest: string;
}

/**
 * Receives a record and its path. In a v1 file, some lists of a record are outside the record, next to it. `record`
 * does not contain these lists. `whole` contains the elements of these lists that are already known. The function may
 * throw a `JsonError`.
 */
type OnRecord = (record: OrganisationRecord, path: JsonPath, whole: OrganisationRecord) => void;

export interface PassOptions {
  readonly onRecord: OnRecord;
  /** Receives the records and fields that end in a chunk of the file, before they are validated. */
  readonly onItems?: ((items: readonly ExportFileItem[]) => void) | undefined;
  /**
   * Receives the number of organisations read so far. If the function returns a promise, reading continues after the
   * promise resolves.
   */
  readonly onOrganisations?: (count: number) => Promise<void> | undefined;
  /**
   * Receives each complete entry of `orgs`. The entry is then removed from `FilePass.drafts` to save memory. Absent if
   * `drafts` must keep all entries.
   */
  readonly onEntry?: (entry: OrganisationDraft, tally: ManifestTally) => void;
  /**
   * The `FilePass.drafts` of an earlier reading of the same file. This reading uses the organisations' ids and the
   * lists next to records in a v1 file, because both may come after the records that need them.
   */
  readonly knownDrafts?: readonly OrganisationDraft[] | undefined;
  /**
   * True if the source can be read only once. Errors then have no line number, because a second reading would be
   * necessary to find the line.
   */
  readonly isStream?: boolean;
}

/**
 * Reads and validates an export file once.
 * @throws IdentityError INVALID_ARGUMENT if the file is invalid, with the paths of the first 100 issues
 */
export async function readFile(source: ExportFileSource, signal: AbortSignal, options: PassOptions): Promise<FilePass> {
  const reading = passFile(source, signal, options);
  for (;;) {
    const { done, value } = await reading.next();
    if (done === true) return value;
  }
}

/**
 * Reads and validates an export file once. Yields each chunk of the file unchanged after `onRecord` has received the
 * records that end in the chunk.
 * @throws IdentityError INVALID_ARGUMENT if the file is invalid, with the paths of the first 100 issues
 */
export async function* passFile(
  source: ExportFileSource,
  signal: AbortSignal,
  { onRecord, onItems, onOrganisations = () => undefined, onEntry, knownDrafts, isStream = false }: PassOptions,
): AsyncGenerator<Uint8Array, FilePass, void> {
  const pass = createPass();
  const reader = new ExportFileReader(() => true, { onUnknown: pass.unknown.addField });
  const digest = createHash('sha256');
  const violations = new Violations();
  const spaces = new WhiteSpaceRun();
  try {
    for await (const chunk of chunksInTurns(source.open(signal))) {
      signal.throwIfAborted();
      digest.update(chunk);
      // The server limits white space only in request bodies. A file in a bucket may contain any amount of it, and so
      // may a file inside a JSON string, where escapes hide white space. So check the limit here.
      if (spaces.add(chunk) > fixedLimits.whiteSpaceBytes) throw new JsonError([], TOO_MUCH_WHITE_SPACE);
      const items = reader.push(chunk);
      onItems?.(items);
      await onOrganisations(reader.organisations);
      for (const item of items) {
        if (isTurnOver()) await yieldToEventLoop();
        violations.capture(item, () => addItem(item, pass, onRecord, knownDrafts));
        if (violations.full) break;
      }
      if (violations.full) break;
      if (onEntry !== undefined) takeEntries(pass, reader.organisations - 1, onEntry);
      yield chunk;
    }
    if (!violations.full) reader.end();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    violations.add(errorOfField(isStream ? error : await withLine(error, source.open(signal)), source.field));
  }
  violations.throwIfAny();
  pass.digest = digest.digest('base64url');
  if (reader.organisations > 0) draftAt(pass, reader.organisations - 1);
  if (onEntry !== undefined) takeEntries(pass, reader.organisations, onEntry);
  return pass;
}

function errorOfField(error: JsonError, field: string | undefined): JsonError {
  const { wrongFile } = error;
  if (wrongFile === undefined || field === undefined) return error;
  return new JsonError([field], `the value is ${wrongFile.kind}, not an export file: ${wrongFile.remedy}`);
}

export function createPass(): FilePass {
  const tally = new ManifestTally();
  const unknown = new UnknownFields();
  return { drafts: [], taken: 0, tally, unknown, manifest: undefined, digest: '' };
}

/**
 * Calls `onEntry` with each entry of `orgs` before position `end`, and removes these entries from `pass`. The file must
 * not contain further fields of these entries.
 */
function takeEntries(pass: FilePass, end: number, onEntry: NonNullable<PassOptions['onEntry']>): void {
  for (const draft of pass.drafts.splice(0, end - pass.taken)) {
    pass.taken++;
    onEntry(draft, pass.tally);
  }
}

/**
 * Returns the content read so far of the entry at position `entry` in `orgs`. Adds empty drafts for this entry and the
 * entries before it, if they are missing.
 */
export function draftAt({ drafts, taken }: FilePass, entry: number): OrganisationDraft {
  while (taken + drafts.length <= entry) drafts.push(new OrganisationDraft(taken + drafts.length));
  const draft = drafts[entry - taken];
  if (draft === undefined) throw new Error(`no organisation ${entry}`);
  return draft;
}

/**
 * Validates a record or another field of a file, and adds it to the drafts and counts in `pass`.
 * @throws JsonError if the item is invalid
 */
export function addItem(
  item: ExportFileItem,
  pass: FilePass,
  onRecord: OnRecord,
  knownDrafts?: readonly OrganisationDraft[],
): void {
  const value = item.isTooLarge === true ? undefined : uniqueValue(item);
  if (item.organisation === undefined) {
    pass.manifest = readManifest(value, item);
    return;
  }
  const draft = draftAt(pass, item.organisation);
  const section = findSection(item.name);
  if (section === undefined) {
    for (const path of draft.addField(item, value)) pass.unknown.addField(path);
    return;
  }
  const { own, whole } = readItem(section, item, value, draft, knownDrafts?.[item.organisation] ?? draft);
  draft.observe(whole);
  pass.tally.add(whole);
  pass.unknown.addRecord(section.name, own.unknown);
  onRecord(own, item.path, whole);
}

/**
 * A record of a file. In a v1 file, some lists of a record are outside the record, next to it: `own` does not contain
 * these lists, and `whole` contains them.
 */
interface AddedRecord {
  readonly own: OrganisationRecord;
  readonly whole: OrganisationRecord;
}

function readItem(
  section: Section,
  item: ExportFileItem,
  value: unknown,
  draft: OrganisationDraft,
  { orgId = '', additions }: OrganisationDraft,
): AddedRecord {
  draft.hasEarlyRecords ||= orgId === '';
  const reading = { orgId, checked: true };
  const own = readFileRecord(section, item, reading, value);
  if (!additions.has(section)) return { own, whole: own };
  // Reading a record changes its JSON, but the lists in `additions` must stay unchanged. So read a copy.
  const complete = (recordJson: unknown) => structuredClone(withAdditions(section, recordJson, additions));
  return { own, whole: readFileRecord(section, item, { ...reading, complete }) };
}

function readManifest(value: unknown, { path }: ExportFileItem): Manifest {
  const result = manifestSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const reason = issue === undefined ? 'invalid manifest' : schemaIssueReason(issue);
  throw new JsonError([...path, ...(issue?.path ?? []).map(String)], reason);
}

const MAX_UNKNOWN_FIELDS = 100;
const MAX_NAME_LENGTH = 200;
/**
 * The name under which the fields beyond the limit are counted. A field named `__proto__` is also counted under this
 * name, because many JSON clients drop a field named `__proto__`.
 */
const OTHERS = '*';

/** Counts the unknown fields of a file by name. Limits the number of names, so that memory and response stay small. */
class UnknownFields {
  private readonly counted = new Map<string, number>();

  readonly addField = (name: string): void => {
    const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
    const isListed = this.counted.has(short) || (this.counted.size < MAX_UNKNOWN_FIELDS && short !== '__proto__');
    const counted = isListed ? short : OTHERS;
    this.counted.set(counted, (this.counted.get(counted) ?? 0) + 1);
  };

  addRecord(section: string, { fields }: UnknownContent): void {
    for (const path of fields) this.addField(`${section}.${path}`);
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.counted);
  }
}

/** Collects the issues of a file. `throwIfAny` reports at most as many issues as a response may contain. */
export class Violations {
  private readonly violations: FieldViolation[] = [];

  get full(): boolean {
    return this.violations.length >= MAX_ISSUES;
  }

  capture(item: ExportFileItem, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.add(error, recordId(item));
    }
  }

  /** @param record the id of the record with the issue */
  add({ path, message }: JsonError, record?: string): void {
    this.violations.push({ field: formatPath(path), description: message, record });
  }

  /** @throws IdentityError INVALID_ARGUMENT if there are issues */
  throwIfAny(): void {
    if (this.violations.length > 0) throw invalidRequest(this.violations.slice(0, MAX_ISSUES));
  }
}

/**
 * Returns the id of the record that has an issue, because in a large file the path alone hardly helps to find the
 * record.
 */
function recordId({ name, value }: ExportFileItem): string | undefined {
  const section = findSection(name);
  if (section === undefined || !isList(section) || !isJsonObject(value)) return undefined;
  const paths = section.error.id.filter((path) => path !== '$orgId');
  const id = paths.map((path) => textAt(value, path, '')).join('_');
  return /[^_]/.test(id) ? id : undefined;
}
