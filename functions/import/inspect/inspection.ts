import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { JsonError, type JsonPath } from '../../../shared/json/jsonScanner.ts';
import type { Manifest } from '../../../shared/organisation/exportFile.ts';
import { heldRecords, type OrganisationRecord } from '../../../shared/organisation/record.ts';
import { isList } from '../../../shared/organisation/section.ts';
import { organisationSection } from '../../../shared/organisation/sections.ts';
import { FileBudget, type FileLimits, unlimited } from './fileBudget.ts';
import { type ExportFileSource, type FilePass, readFile } from './filePass.ts';
import { addOrganisations, checkManifest } from './manifestCheck.ts';
import type { OrganisationDraft, OrganisationHeader } from './organisationDraft.ts';
import { RepeatedRecords } from './repeatedRecords.ts';
import { Violations } from './violations.ts';

export type { ExportFileSource } from './filePass.ts';

/** The result of validating an export file. The caller disposes of `repeated`. */
export interface Inspection {
  /** The organisations that the request selects. */
  readonly organisations: readonly OrganisationHeader[];
  /**
   * The position in `organisations` of each entry of the file, undefined for an organisation that is left out. Several
   * entries may hold one organisation.
   */
  readonly entries: readonly (number | undefined)[];
  /** The records that repeat an earlier record's key with other content. */
  readonly repeated: RepeatedRecords;
  /** Numbers of the selected organisations' records by section, without their own. */
  readonly counts: Readonly<Record<string, number>>;
  /** Numbers of those among them that other records hold. */
  readonly held: Readonly<Record<string, number>>;
  /** Numbers of organisations and records that the request leaves out, by section. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Numbers of values that the service does not know, by field. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Whether the file had a manifest, which proved it complete and unchanged. */
  readonly proved: boolean;
  readonly manifest: Manifest | undefined;
  /** What a manifest of the whole file says of its records. */
  readonly tally: Pick<Manifest, 'counts' | 'digest'>;
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
}

/** Takes the selected records of a file while it is validated, also those that other records hold. */
export interface RecordVisitor {
  add(record: OrganisationRecord): void;
  /** Forgets all records, since the file is read again. */
  reset(): void;
}

/** The organisations that an import takes of a file; by default all. */
export interface OrganisationSelection {
  /** Whether an organisation is imported, by its id. */
  readonly isSelected?: (orgId: string) => boolean;
  /** Whether it is left to another task, and therefore neither imported nor counted as left out. */
  readonly isElsewhere?: (orgId: string) => boolean;
}

/**
 * Validates a whole export file before anything is written, and compares it with its manifest if it has one.
 * @param selection the organisations that are imported
 * @param visitor gets all records with a v1 file's additions, those of the organisations themselves last
 * @throws IdentityError INVALID_ARGUMENT naming the first 100 issues, each with its path; 413 above a limit
 */
export async function inspect(
  source: ExportFileSource,
  signal: AbortSignal,
  selection: OrganisationSelection = {},
  limits: FileLimits = unlimited,
  visitor?: RecordVisitor,
): Promise<Inspection> {
  const { isSelected = () => true, isElsewhere = () => false } = selection;
  const repeated = new RepeatedRecords();
  try {
    const reading = { isSelected, isElsewhere, limits, visitor };
    const { pass, leftOut, elsewhere, held } = await readRecords(source, signal, repeated, reading);
    const { drafts, tally, manifest, unknown, digest } = pass;
    const violations = new Violations(source.field);
    const merged = mergeEntries(drafts, violations);
    violations.throwIfAny();
    const counts = add(subtract(subtract(tally.counts, leftOut), elsewhere), held);
    addOrganisations(tally, merged.organisations);
    if (manifest !== undefined) checkManifest(manifest, tally);
    const { organisations, entries } = select(merged, isSelected);
    const organisationsLeftOut = merged.organisations.filter(
      ({ orgId }) => !(isSelected(orgId) || isElsewhere(orgId)),
    ).length;
    for (const { record } of organisations) if (record !== undefined) visitor?.add(record);
    return {
      organisations,
      entries,
      repeated,
      counts,
      held,
      leftOut: { ...leftOut, [organisationSection.name]: organisationsLeftOut },
      unknown: unknown.counts,
      proved: manifest !== undefined,
      manifest,
      tally: { counts: tally.counts, digest: tally.digest },
      digest,
    };
  } catch (error) {
    repeated[Symbol.dispose]();
    throw error;
  }
}

/** Removes the organisations that are left out. */
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

function subtract(counts: Readonly<Counts>, others: Readonly<Counts>): Counts {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count - (others[name] ?? 0)]));
}

function add(counts: Readonly<Counts>, others: Readonly<Counts>): Counts {
  const sums = Object.entries(others).map(([name, count]) => [name, count + (counts[name] ?? 0)] as const);
  return { ...counts, ...Object.fromEntries(sums) };
}

/** What reading a file takes into account. */
interface Reading {
  readonly isSelected: (orgId: string) => boolean;
  readonly isElsewhere: (orgId: string) => boolean;
  readonly limits: FileLimits;
  readonly visitor: RecordVisitor | undefined;
}

/** Reads a file's records, once more if an organisation's id, or an addition, follows its records, and once more if keys repeat. */
async function readRecords(
  source: ExportFileSource,
  signal: AbortSignal,
  repeated: RepeatedRecords,
  { isSelected, isElsewhere, limits, visitor }: Reading,
): Promise<{
  readonly pass: FilePass;
  readonly leftOut: Counts;
  readonly elsewhere: Counts;
  readonly held: Counts;
}> {
  let [leftOut, elsewhere, held]: [Counts, Counts, Counts] = [{}, {}, {}];
  let budget = new FileBudget(limits);
  const count = (counts: Counts, { section: { name } }: OrganisationRecord) => {
    increase(counts, name);
  };
  const onRecord = (record: OrganisationRecord, path: JsonPath, whole: OrganisationRecord) => {
    if (!isSelected(record.orgId)) return count(isElsewhere(record.orgId) ? elsewhere : leftOut, record);
    budget.take(record);
    repeated.note(record);
    visitor?.add(whole);
    for (const { record: one } of heldRecords(record, path)) {
      budget.take(one);
      repeated.note(one);
      visitor?.add(one);
      count(held, one);
    }
  };
  const onOrganisations = (organisations: number) => budget.checkOrganisations(organisations);
  let pass = await readFile(source, signal, { onRecord, onOrganisations });
  const hasEarly = pass.drafts.some(({ hasEarlyRecords, orgId }) => hasEarlyRecords && orgId !== undefined);
  if (hasEarly || (visitor !== undefined && pass.drafts.some(({ additions }) => additions.size > 0))) {
    repeated.reset();
    visitor?.reset();
    [leftOut, elsewhere, held] = [{}, {}, {}];
    budget = new FileBudget(limits);
    pass = await readFile(source, signal, { onRecord, knownDrafts: pass.drafts });
  }
  if (repeated.needsComparison) {
    const compare = (record: OrganisationRecord, path: JsonPath) => {
      if (!isSelected(record.orgId)) return;
      for (const one of [{ record, path }, ...heldRecords(record, path)])
        checkRepetition(one.record, one.path, repeated);
    };
    await readFile(source, signal, { onRecord: compare, knownDrafts: pass.drafts });
  }
  return { pass, leftOut, elsewhere, held };
}

/** The organisations of a file, and the position in `organisations` of each entry. */
interface MergedEntries {
  readonly organisations: readonly OrganisationHeader[];
  readonly entries: readonly number[];
}

/**
 * Merges the entries of each organisation, by its id: they may repeat its fields, and spread them. Entries without an
 * id remain apart.
 * @param violations receives the contradictions between entries
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
      for (const { path, other } of first.merge(draft)) violations.add(contradictionError(path, other), path);
    }
    return position;
  });
  return { organisations: merged.map((draft) => draft.toHeader()), entries };
}

/** Rejects a single object of an organisation, such as a policy, that contradicts an earlier one. */
function checkRepetition(record: OrganisationRecord, path: JsonPath, repeated: RepeatedRecords): void {
  const first = repeated.compare(record, path);
  if (first === undefined || isList(record.section)) return;
  throw contradictionError(path, first);
}

/**
 * Creates the error for a value that contradicts an earlier one about the same organisation.
 * @param other the path of the earlier value
 */
function contradictionError(path: JsonPath, other: string): JsonError {
  return new JsonError(path, `contradicts ${other}: remove one of them`);
}
