import { type Counts, countOf, increase } from '../collections/counts.ts';
import { type FieldViolation, invalidRequest } from '../errors/errors.ts';
import { shortenedText } from '../errors/identityError.ts';
import { JsonError, type JsonPath } from '../json/jsonError.ts';
import { UNLIMITED } from '../limitDefinition.ts';
import { organisationSection, sections } from '../organisation/allSections.ts';
import { nestedRecords, type OrganisationRecord } from '../organisation/record.ts';
import { serviceUsers } from '../organisation/sections/section.ts';
import type { StatedContent } from '../organisation/statedContent.ts';
import { chunksInTurns } from '../turns.ts';
import { FileBudget, type FileLimits } from './fileLimits.ts';
import { type FilePass, type PassOptions, passFile, readFile, Violations } from './filePass.ts';
import { type Manifest, type ManifestTally, statedContent } from './manifest.ts';
import type { OrganisationDraft, OrganisationHeader } from './organisationDraft.ts';
import { ExportFileReader, type ExportFileSource } from './reader.ts';

interface UnknownStates {
  readonly organisations: number;
  readonly people: number;
  readonly serviceUsers: number;
}

export interface Inspection {
  /** The organisations of the file that the request selects. */
  readonly organisations: readonly OrganisationHeader[];
  /**
   * For each entry of `orgs`, the position of its organisation in `organisations`; undefined if the request does not
   * select this organisation. Several entries may belong to the same organisation.
   */
  readonly entries: readonly (number | undefined)[];
  /**
   * For each section, the number of records that belong to the selected organisations. The organisations' own records
   * are not counted.
   */
  readonly counts: Readonly<Record<string, number>>;
  /** For each section, how many of the records in `counts` are inside other records in the file. */
  readonly nested: Readonly<Record<string, number>>;
  /** The sections in which an import would reject a record, or leave out an invalid part of a record. */
  readonly invalid: ReadonlySet<string>;
  /**
   * For each section, the number of records in the file that the request does not select. The number under `org` is the
   * number of organisations that the request does not select.
   */
  readonly leftOut: Readonly<Record<string, number>>;
  /**
   * Maps each unknown field to how often the file contains it. For an unknown list, the number is the number of its
   * elements.
   */
  readonly unknown: Readonly<Record<string, number>>;
  /** The numbers of selected organisations and users without a state; undefined if all of them have a state. */
  readonly unknownStates: UnknownStates | undefined;
  /**
   * How many selected people would get the state INITIAL, because the file lacks their state and their e-mail address
   * is unverified.
   */
  readonly initialPeople: number;
  readonly stated: StatedContent;
  /** True if the file has a manifest, with which the file was checked. The file is then complete and unchanged. */
  readonly proved: boolean;
  readonly manifest: Manifest | undefined;
  /** The counts and the digest of the records in the file, in the form in which a manifest contains them. */
  readonly tally: Pick<Manifest, 'counts' | 'digest'>;
  /** The SHA-256 hash of the whole file, in base64url. */
  readonly digest: string;
}

/**
 * Receives the selected records while a file is validated. Receives also records inside other records, and invalid
 * records, although an import writes no invalid record.
 */
export interface RecordVisitor {
  /**
   * @param holder the outer record, if the record is inside another record in the file; otherwise undefined
   * @param path the record's path; undefined for a record inside another record, and for an organisation's own record
   */
  add(record: OrganisationRecord, holder?: OrganisationRecord, path?: JsonPath): void;
  /**
   * Discards all received records. The inspection calls this before it reads the file a second time and passes all
   * records again.
   */
  reset(): void;
}

export function combineVisitors(visitors: readonly RecordVisitor[]): RecordVisitor {
  return {
    add: (...record) => {
      for (const visitor of visitors) visitor.add(...record);
    },
    reset: () => {
      for (const visitor of visitors) visitor.reset();
    },
  };
}

interface InspectionOptions extends Pick<PassOptions, 'onItems'> {
  /**
   * True if the source is an export that can be read only once. Such an export must have a manifest, and in each entry
   * the organisation's id must precede the records.
   */
  readonly isOnce?: boolean;
  /** Returns whether the request selects the organisation. Absent if the request selects all organisations. */
  readonly isSelected?: (orgId: string) => boolean;
  readonly limits?: FileLimits;
  /**
   * Receives the selected records, including the lists that a v1 file contains next to a record. The organisations' own
   * records come last.
   */
  readonly visitor?: RecordVisitor | undefined;
}

/**
 * Validates a whole export file, so that an import writes nothing of an invalid file. If the file has a manifest,
 * compares the records with the manifest.
 * @throws IdentityError INVALID_ARGUMENT if the file is invalid, with the paths of the first 100 issues; 413 if the
 *   file exceeds a limit
 */
export async function inspect(
  source: ExportFileSource,
  signal: AbortSignal,
  options: InspectionOptions = {},
): Promise<Inspection> {
  const { isSelected = () => true } = options;
  const { pass, counts, nested, invalid, leftOut, initialPeople, unknownUsers } = await readRecords(source, signal, {
    ...options,
    isSelected,
  });
  const { drafts, tally, manifest, unknown, digest } = pass;
  for (const { invalidAdditions } of drafts) for (const { name } of invalidAdditions) invalid.add(name);
  const violations = new Violations();
  const merged = mergeEntries(drafts, violations);
  violations.throwIfAny();
  for (const { record } of merged.organisations) tallyOrganisation(record, tally);
  if (options.isOnce === true) requireManifest(manifest);
  if (manifest !== undefined) checkManifest(manifest, tally);
  const { organisations, entries } = select(merged, isSelected);
  const stated = statedContent(manifest);
  for (const { record } of organisations) if (record !== undefined) options.visitor?.add(record);
  increase(leftOut, organisationSection.name, merged.organisations.length - organisations.length);
  return {
    organisations,
    entries,
    counts,
    nested,
    invalid,
    leftOut,
    unknown: unknown.counts,
    unknownStates: withOrganisations(unknownUsers, organisations),
    initialPeople,
    stated,
    proved: manifest !== undefined,
    manifest,
    tally: { counts: tally.counts, digest: tally.digest },
    digest,
  };
}

function withOrganisations(
  users: Omit<UnknownStates, 'organisations'>,
  headers: readonly OrganisationHeader[],
): UnknownStates | undefined {
  const organisations = headers.filter(({ record }) => record !== undefined && lacksState(record)).length;
  return organisations + users.people + users.serviceUsers === 0 ? undefined : { organisations, ...users };
}

function lacksState({ invalid, state }: OrganisationRecord): boolean {
  return invalid === undefined && state?.source === 'unknown';
}

/**
 * Yields the bytes of an export that this service wrote. After the last byte, checks by the manifest that the export is
 * complete and unchanged. Reads the export once. Memory does not grow with the size of the export.
 * @param onItems receives the records and fields that end in each chunk, before they are validated
 * @throws IdentityError INVALID_ARGUMENT if the export is incomplete, invalid or changed
 */
export async function* proveExport(
  source: ExportFileSource,
  signal: AbortSignal,
  onItems?: PassOptions['onItems'],
): AsyncGenerator<Uint8Array, void, void> {
  const { manifest, tally } = yield* tallyExport(source, signal, { onItems });
  checkManifest(requireManifest(manifest), tally);
}

/** @throws IdentityError INVALID_ARGUMENT if the manifest is missing */
export function requireManifest(manifest: Manifest | undefined): Manifest {
  if (manifest === undefined)
    throw invalidRequest([{ field: 'manifest', description: 'missing, although every export ends with a manifest' }]);
  return manifest;
}

export interface TallyOptions extends Pick<PassOptions, 'onItems'> {
  /** Receives each record of an organisation, and after them the organisation's own record. */
  readonly onRecord?: (record: OrganisationRecord) => void;
}

/**
 * Yields the bytes of an export, and counts the records in the same way as the export's manifest. Memory does not grow
 * with the size of the export.
 */
export function tallyExport(
  source: ExportFileSource,
  signal: AbortSignal,
  { onItems, onRecord = () => {} }: TallyOptions = {},
): AsyncGenerator<Uint8Array, FilePass, void> {
  const onEntry = (entry: OrganisationDraft, tally: ManifestTally) => {
    const { record } = entry.toHeader();
    // An export for ZITADEL has a second entry for some organisations. The second entry contains only grants and
    // members, so do not count it as another organisation. But count an entry without any record, because an import
    // counts such an entry too.
    if (record !== undefined || !entry.hasRecords) tallyOrganisation(record, tally);
    if (record !== undefined) onRecord(record);
  };
  return passFile(source, signal, { onRecord, onItems, onEntry, isStream: true });
}

export function tallyOrganisation(record: OrganisationRecord | undefined, tally: ManifestTally): void {
  tally.addOrganisation();
  if (record !== undefined) tally.add(record);
}

/**
 * When the reader has reached this number of organisations, it pauses until `countOrganisations` has counted the
 * organisations of the whole file.
 */
const MANY_ORGANISATIONS = 1_000;

/**
 * Counts the organisations of a file in the request, because this is much faster than reading all records before the
 * limit is exceeded. Does not count the organisations of a file in a bucket, because the file would have to be
 * downloaded twice.
 * @throws IdentityError 413 if the file has too many organisations
 */
async function countOrganisations(source: ExportFileSource, signal: AbortSignal, limits: FileLimits = {}) {
  const { organisations = UNLIMITED } = limits;
  if (source.isInRequest !== true || organisations === UNLIMITED) return;
  const budget = new FileBudget(limits);
  const reader = new ExportFileReader(() => false);
  try {
    for await (const chunk of chunksInTurns(source.open(signal))) {
      reader.push(chunk);
      budget.checkOrganisations(reader.organisations);
    }
  } catch (error) {
    // Ignore this error. The validation of the whole file will find the error too, and report it together with the
    // file's other errors.
    if (!(error instanceof JsonError)) throw error;
  }
}

function select(
  { organisations, entries }: MergedEntries,
  isSelected: (orgId: string) => boolean,
): Pick<Inspection, 'organisations' | 'entries'> {
  const positions = [...organisations.keys()].filter((position) => isSelected(organisations[position]?.orgId ?? ''));
  const selected = new Map(positions.map((position, index) => [position, index]));
  return {
    organisations: organisations.filter((_, position) => selected.has(position)),
    entries: entries.map((position) => selected.get(position)),
  };
}

/** @throws IdentityError INVALID_ARGUMENT if the file differs from its manifest */
export function checkManifest(manifest: Manifest, tally: Inspection['tally']): void {
  const names = new Set([...Object.keys(manifest.counts), ...Object.keys(tally.counts)]);
  const violations: FieldViolation[] = [...names]
    .map((name) => ({ name, stated: countOf(manifest.counts, name), read: countOf(tally.counts, name) }))
    .filter(({ stated, read }) => stated !== read)
    .map(({ name, stated, read }) => ({
      field: `manifest.counts.${name}`,
      description: `count mismatch: ${stated} in the manifest, ${read} in the file`,
    }));
  const { sections: read, secrets } = manifest;
  // The export did not read a section that `manifest.sections` lacks. So the file must not contain records of such a
  // section.
  const unread =
    secrets === undefined
      ? []
      : sections.filter(({ name }) => read?.includes(name) === false && tally.counts[name] !== undefined);
  for (const { name } of unread)
    violations.push({
      field: 'manifest.sections',
      description: `${name} is missing, but the file has records of this section`,
    });
  if (violations.length === 0 && manifest.digest !== tally.digest) {
    violations.push({
      field: 'manifest.digest',
      description: `digest mismatch: ${manifest.digest} in the manifest, ${tally.digest} in the file; remove \`manifest\` if you edited the file`,
    });
  }
  if (violations.length > 0) throw invalidRequest(violations, describeAll(violations));
}

const MAX_DESCRIBED = 10;

/**
 * Returns one text with the first violations, because a file that is incomplete usually has wrong counts in several
 * sections.
 */
function describeAll(violations: readonly FieldViolation[]): string {
  const texts = violations
    .slice(0, MAX_DESCRIBED)
    .map(({ field, description }) => `${shortenedText(field)}: ${description}`);
  const more = violations.length - texts.length;
  return [...texts, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
}

type Reading = InspectionOptions & Required<Pick<InspectionOptions, 'isSelected'>>;

/**
 * Reads the file. Reads it a second time if records precede the id of their organisation. If there is a visitor, also
 * reads a v1 file a second time if it contains lists next to records.
 */
async function readRecords(source: ExportFileSource, signal: AbortSignal, reading: Reading) {
  const { visitor } = reading;
  const counted = await countRecords(source, signal, reading);
  const { drafts } = counted.pass;
  const hasEarly = drafts.some(({ hasEarlyRecords, orgId }) => hasEarlyRecords && orgId !== undefined);
  if (!hasEarly && (visitor === undefined || drafts.every(({ additions }) => additions.size === 0))) return counted;
  if (reading.isOnce === true)
    throw invalidRequest([{ field: 'orgs', description: 'records precede the id of their organisation' }]);
  visitor?.reset();
  return countRecords(source, signal, reading, drafts);
}

async function countRecords(
  source: ExportFileSource,
  signal: AbortSignal,
  { isSelected, limits, visitor, onItems, isOnce = false }: Reading,
  knownDrafts?: readonly OrganisationDraft[],
) {
  const counts: Counts = {};
  const nested: Counts = {};
  const leftOut: Counts = {};
  const invalid = new Set<string>();
  const budget = new FileBudget(limits);
  let initialPeople = 0;
  const unknownUsers = { people: 0, serviceUsers: 0 };
  const take = (record: OrganisationRecord) => {
    budget.take(record);
    const { section, state } = record;
    if (record.invalid !== undefined || record.leftOut !== undefined) invalid.add(section.name);
    if (section.collection === 'users' && lacksState(record)) {
      unknownUsers[section.name === serviceUsers.name ? 'serviceUsers' : 'people']++;
      if (state?.value === 'USER_STATE_INITIAL') initialPeople++;
    }
    increase(counts, section.name);
  };
  const onRecord = (record: OrganisationRecord, path: JsonPath, whole: OrganisationRecord) => {
    if (isSelected(record.orgId)) {
      take(whole);
      visitor?.add(whole, undefined, path);
      for (const { record: nestedRecord } of nestedRecords(record, path)) {
        take(nestedRecord);
        visitor?.add(nestedRecord, whole);
        increase(nested, nestedRecord.section.name);
      }
    } else increase(leftOut, record.section.name);
  };
  let areCounted = false;
  const onOrganisations = (count: number) => {
    budget.checkOrganisations(count);
    if (areCounted || count < MANY_ORGANISATIONS) return undefined;
    areCounted = true;
    return countOrganisations(source, signal, limits);
  };
  const pass = await readFile(source, signal, { onRecord, onItems, onOrganisations, knownDrafts, isStream: isOnce });
  return { pass, counts, nested, invalid, leftOut, initialPeople, unknownUsers };
}

interface MergedEntries {
  readonly organisations: readonly OrganisationHeader[];
  readonly entries: readonly number[];
}

/**
 * Merges the entries of `orgs` that have the same organisation id, because a file may spread the fields of an
 * organisation over several entries. Entries without an id remain separate.
 * @param violations the list to which the function adds the contradictions between entries
 */
function mergeEntries(drafts: readonly OrganisationDraft[], violations: Violations): MergedEntries {
  const merged: OrganisationDraft[] = [];
  const positions = new Map<string, number>();
  const entries = drafts.map((draft) => {
    const position = positions.get(draft.orgId ?? '') ?? merged.length;
    const first = merged[position];
    if (first === undefined) {
      merged.push(draft);
      if (draft.orgId !== undefined) positions.set(draft.orgId, position);
    } else {
      for (const { path, firstPath } of first.merge(draft)) violations.add(contradictionError(path, firstPath));
    }
    return position;
  });
  return { organisations: merged.map((draft) => draft.toHeader()), entries };
}

/**
 * @param path the path of a value that contradicts an earlier value
 * @param firstPath the path of the earlier value
 */
function contradictionError(path: JsonPath, firstPath: string): JsonError {
  return new JsonError(path, `contradicts ${firstPath}: remove one of them`);
}
