import { randomInt } from 'node:crypto';
import { type Caller, organisationKey, userKey } from '../../shared/auth/authorise.ts';
import { deadlineExceeded, organisationsExist } from '../../shared/errors/errors.ts';
import { hasCode } from '../../shared/errors/identityError.ts';
import type { FileLimits } from '../../shared/exportFile/fileLimits.ts';
import { type Inspection, inspect } from '../../shared/exportFile/inspection.ts';
import type { IgnoredField } from '../../shared/exportFile/manifest.ts';
import type { ExportFileSource } from '../../shared/exportFile/reader.ts';
import type { Limits } from '../../shared/limits.ts';
import { phases } from '../../shared/organisation/section.ts';
import { claimsLoginNames, organisationSection, sections } from '../../shared/organisation/sections.ts';
import { defaultPasswordHashing, type PasswordHashing } from '../../shared/passwordHashing.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { openOverlay } from '../../shared/store/overlay.ts';
import { type Collection, type DocumentStore, documentPath, type Store } from '../../shared/store/store.ts';
import { inTurns } from '../../shared/turns.ts';
import type { ImportRequestOptions, ImportResponse } from './contract.ts';
import { fileWarnings, ImportReport, ignoredWarning, loginNameWarnings } from './results/report.ts';
import type { Progress } from './results/responses.ts';
import { carriedSections, countNotCarried, missingWarnings, parents, selector } from './selection.ts';
import { type BatchContext, isCreatedByImport } from './write/batchContext.ts';
import { ReservedNames } from './write/claimedNames.ts';
import { RemovalWatch } from './write/guardedStore.ts';
import { settleLoginNames, writeOrganisations } from './write/organisations.ts';
import { type ImportWork, writePhase } from './write/phase.ts';

/** A valid export file, and the progress of its import. */
export interface InspectedFile {
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
  readonly orgIds: readonly string[];
  /** Returns the numbers of records so far, by outcome. */
  readonly totals: () => Readonly<Record<string, number>>;
  /** Returns the import's progress so far. */
  readonly progress: () => Progress;
}

/** The options of an import. */
export interface ImportOptions extends Partial<ImportRequestOptions> {
  /** The calling user, whom the import must not lock out. */
  readonly caller?: Pick<Caller, 'userId'>;
  /** How clear passwords are hashed; by default as every ZITADEL can verify. */
  readonly passwordHashing?: PasswordHashing | undefined;
  /** Called once the file is valid, before the first write; the import fails if it throws. */
  readonly onInspected?: (file: InspectedFile) => Promise<void>;
  /** The fields of the request that the service does not know, each for a warning. */
  readonly ignored?: readonly IgnoredField[];
  /** Called at the start of each phase. */
  readonly onPhase?: () => void;
  /** What the file may hold; by default as much as it does. */
  readonly limits?: Pick<Limits, 'organisations' | 'clearPasswords' | 'dryRunRecords'>;
}

const RANDOM_DIGITS = 9;
const READ_BATCH = 500;

/**
 * Returns the current time with random digits behind the milliseconds, so that no two requests have the same: each takes
 * records with its own stamp for its own.
 * @param importId the digits that the requests of one import share
 */
export function uniqueStamp(now: Date, importId = newImportId()): string {
  return now.toISOString().replace('Z', `${importId}Z`);
}

/** Returns random digits that tell the records of one import, in one request or several, from those of others. */
export function newImportId(): string {
  return String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
}

/** The collections of records whose content references check, not only their existence. */
const inspectedCollections: ReadonlySet<Collection> = new Set(
  sections.flatMap(({ references = [] }) => references.flatMap(({ check, collection }) => (check ? [collection] : []))),
);

/**
 * Imports organisations (specification 4.3): validates the whole export file, writes the organisations, then their
 * records phase by phase. An import has no state but the records themselves: those that exist with equal content count
 * as unchanged, so an interrupted import continues when its request is sent again.
 * @param stamp the creation and change date of the written records, unique to this import; ISO 8601, UTC
 * @param signal stops the import between two batches, with its reason
 * @returns the import response
 * @throws IdentityError INVALID_ARGUMENT for an invalid export file, before anything is written; DEADLINE_EXCEEDED with
 * the import's progress
 */
export async function importOrganisations(
  store: Store,
  source: ExportFileSource,
  options: ImportOptions,
  stamp: string,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const report = new ImportReport(options);
  const run = { base: store, source, options, stamp, signal, report };
  try {
    if (options.dryRun !== true) return await importInto({ ...run, store });
    await using overlay = await openOverlay(store, inspectedCollections);
    return await importInto({ ...run, store: overlay });
  } finally {
    // The response, or the error, may rest on records that another import has just committed.
    await store.durable?.();
  }
}

interface ImportRun {
  /** The database, or in a dry run the overlay that takes the writes. */
  readonly store: DocumentStore;
  /** The database without this call's unfinished writes. */
  readonly base: Store;
  readonly source: ExportFileSource;
  readonly options: ImportOptions;
  readonly stamp: string;
  readonly signal: AbortSignal;
  readonly report: ImportReport;
}

async function importInto(run: ImportRun): Promise<ImportResponse> {
  let inspection: Inspection | undefined;
  try {
    inspection = await inspectFile(run);
    return await writeFile(run, inspection);
  } catch (error) {
    throw withProgress(error, run.report, inspection);
  }
}

/** Validates the whole file, and passes its content to the caller. Writes nothing. */
async function inspectFile({ source, options, signal, report }: ImportRun): Promise<Inspection> {
  const limits = fileLimits(options);
  const inspection = await inspect(source, signal, { isSelected: selector(options), limits });
  for (const field of options.ignored ?? []) report.addFileWarning(ignoredWarning(field));
  for (const warning of fileWarnings(inspection)) report.addFileWarning(warning);
  const records = { phases: phases.length + 1, total: recordTotals(inspection) };
  await options.onInspected?.({
    digest: inspection.digest,
    orgIds: inspection.organisations.map(({ orgId }) => orgId),
    totals: () => report.totals,
    progress: () => ({ ...records, phase: report.phase, records: report.records }),
  });
  return inspection;
}

/** Writes the organisations, then their records phase by phase. */
async function writeFile(run: ImportRun, inspection: Inspection): Promise<ImportResponse> {
  const { source, options, report } = run;
  const { dryRun = false, newOrgsOnly = false } = options;
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  const context = await beginBatches(run, orgIds);
  if (newOrgsOnly) await requireNew(context, orgIds);
  for (const warning of loginNameWarnings(inspection, context.loginNamesByDefault)) report.addFileWarning(warning);
  enterPhase(report, 1, options);
  const targets = await writeOrganisations(context, inspection, report);
  // Another import may have created one of them since.
  if (newOrgsOnly) await requireNew(context, orgIds);
  await writePhases({ context, source, inspection, targets, report }, options);
  for (const warning of missingWarnings(inspection, options)) report.addWarning(warning);
  countNotCarried(inspection, options, report);
  return report.toJson({ proved: inspection.proved, dryRun });
}

/**
 * Requires that no organisation exists, except those that this call has created.
 * @throws IdentityError ALREADY_EXISTS with the ids of the others; the signal's reason
 */
async function requireNew(context: BatchContext, orgIds: readonly string[]): Promise<void> {
  const existing: string[] = [];
  for await (const batch of inTurns(orgIds, READ_BATCH, context.signal)) {
    const documents = await context.store.getMany(batch.map(organisationKey), ['createdAt']);
    existing.push(
      ...batch.filter((_, index) => {
        const document = documents[index];
        return document !== undefined && !isCreatedByImport(context, document);
      }),
    );
  }
  if (existing.length > 0) throw organisationsExist(existing);
}

/** Creates the state that all batches share. */
async function beginBatches(
  { store, base, options, stamp, signal }: ImportRun,
  orgIds: readonly string[],
): Promise<BatchContext> {
  const { onConflict = 'report', passwordHashing = defaultPasswordHashing, caller } = options;
  return {
    ...{ base, store, stamp, onConflict, passwordHashing, signal },
    pace: options.dryRun === true ? {} : base,
    reservedNames: new ReservedNames(store),
    callerPath: caller === undefined ? undefined : documentPath(userKey(caller.userId)),
    watch: await RemovalWatch.begin(store, orgIds),
    loginNamesByDefault: (await describeInstance(store)).loginNamesByDomain,
    batches: 0,
    expectExisting: false,
  };
}

function fileLimits({ limits, dryRun }: ImportOptions): FileLimits {
  if (limits === undefined || dryRun !== true) return limits ?? {};
  return { ...limits, records: limits.dryRunRecords };
}

async function writePhases(work: ImportWork, options: ImportOptions): Promise<void> {
  const { context, inspection, targets } = work;
  for (const phase of phases) {
    enterPhase(work.report, phase + 1, options);
    const carried = carriedSections(phase, inspection, options);
    if (carried.size === 0) continue;
    if ([...carried].some(claimsLoginNames)) await settleLoginNames(context, targets);
    await writePhase(work, phase, new Set([...carried, ...parents(carried, inspection)]));
  }
}

/** Enters a phase as reports count them: the organisations are the first one. */
function enterPhase(report: ImportReport, phase: number, { onPhase }: ImportOptions): void {
  report.phase = phase;
  onPhase?.();
}

/** Returns the numbers of records to import, by section. */
function recordTotals({ organisations, counts }: Inspection): Readonly<Record<string, number>> {
  const totals = Object.entries({ [organisationSection.name]: organisations.length, ...counts });
  return Object.fromEntries(totals.filter(([, count]) => count > 0));
}

/** Adds the import's progress to a timeout error. */
function withProgress(error: unknown, report: ImportReport, inspection: Inspection | undefined): unknown {
  if (!hasCode(error, 'DEADLINE_EXCEEDED')) return error;
  const total = inspection === undefined ? {} : { total: recordTotals(inspection) };
  return deadlineExceeded([
    { '@type': 'type.googleapis.com/identity.v1.ImportProgress', written: report.written, ...total, resumable: true },
  ]);
}
