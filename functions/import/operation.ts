import { readRemovals } from '../../shared/accounts/organisationRemovals.ts';
import { systemAccount } from '../../shared/audit/openAudit.ts';
import { organisationKey, userKey } from '../../shared/auth/authorise.ts';
import { firstIds, organisationRemoved, organisationsExist } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectReplaced } from '../../shared/errors/storageErrors.ts';
import type { FileLimits } from '../../shared/exportFile/fileLimits.ts';
import { type Inspection, inspect } from '../../shared/exportFile/inspection.ts';
import type { ExportFileSource } from '../../shared/exportFile/reader.ts';
import { phases } from '../../shared/organisation/section.ts';
import { claimsLoginNames, organisationSection, sections } from '../../shared/organisation/sections.ts';
import { defaultPasswordHashing } from '../../shared/passwordHashing.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { fencedDocuments } from '../../shared/store/lock/fence.ts';
import type { LockRequest } from '../../shared/store/lock/instanceLock.ts';
import { openOverlay } from '../../shared/store/overlay.ts';
import { type Collection, type DocumentStore, documentPath, READ_BATCH, type Store } from '../../shared/store/store.ts';
import { inTurns } from '../../shared/turns.ts';
import type { ImportResponse } from './contract.ts';
import type { ImportRun, ImportSettings, Writing } from './importRun.ts';
import { fileWarnings, ignoredWarning, loginNameWarnings } from './results/fileWarnings.ts';
import { ImportReport } from './results/report.ts';
import { carriedSections, countNotCarried, missingWarnings, organisationFilter, parentSections } from './selection.ts';
import { isCreatedByImport } from './stamp.ts';
import { ReservedNames } from './write/reservedNames.ts';
import { settleLoginNames, type Targets, writeOrganisations } from './write/writeOrganisations.ts';
import { writePhase } from './write/writePhase.ts';

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
 * @throws IdentityError INVALID_ARGUMENT for an invalid export file, before anything is written; the signal's reason, and
 * every error after the first write, with the import's progress
 * @example
 * const source = { open: () => createReadStream('export.json') };
 * const settings = { withKeys: true, onConflict: 'overwrite' };
 * const response = await importOrganisations(store, source, settings, uniqueStamp(new Date()), signal);
 */
export async function importOrganisations(
  store: Store,
  source: ExportFileSource,
  settings: ImportSettings,
  stamp: string,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const run = { source, settings, base: store, stamp, signal, report: new ImportReport(settings) };
  if (settings.dryRun === true) {
    await using overlay = await openOverlay(store, inspectedCollections);
    return await inspectAndWrite({ ...run, store: overlay });
  }
  try {
    return await inspectAndWrite({ ...run, store });
  } catch (error) {
    throw withProgress(error, run);
  }
}

async function inspectAndWrite(run: ImportRun): Promise<ImportResponse> {
  try {
    const inspection = await inspectFile(run);
    return await locked(run, async (locking) => writeFile(await beginWriting(locking, inspection)));
  } finally {
    // The response, or the error, may rest on records that another import has just committed.
    await run.base.durable?.();
  }
}

/** Validates the whole file, and passes its content to the caller. Writes nothing. */
async function inspectFile({ source, settings, signal, report }: ImportRun): Promise<Inspection> {
  const isSelected = organisationFilter(settings);
  const inspection = await inspect(source, signal, { isSelected, limits: fileLimits(settings) });
  for (const field of settings.ignored ?? []) report.addFileWarning(ignoredWarning(field));
  for (const warning of fileWarnings(inspection)) report.addFileWarning(warning);
  const records = { phases: phases.length + 1, total: recordTotals(inspection) };
  report.total = records.total;
  await settings.onInspected?.({
    digest: inspection.digest,
    orgIds: orgIdsOf(inspection),
    totals: () => report.totals,
    progress: () => ({
      ...records,
      phase: report.phase,
      records: report.records,
      ...(report.waitingFor === undefined ? {} : { waitingFor: report.waitingFor }),
    }),
  });
  return inspection;
}

/** Holds the instance's lock while the file is written: alone if stored records may change. A dry run takes no lock. */
async function locked(run: ImportRun, write: (run: ImportRun) => Promise<ImportResponse>): Promise<ImportResponse> {
  const { settings, store, base, signal, report } = run;
  if (settings.dryRun === true) return write(run);
  const request: LockRequest = {
    mode: settings.onConflict === 'overwrite' ? 'alone' : 'shared',
    operation: 'import',
    caller: settings.caller?.userId ?? systemAccount(),
    signal,
    onWait: (holder) => {
      report.waitingFor = holder;
      settings.onWait?.(holder);
    },
  };
  await using held = await base.lock.take(request);
  report.waitingFor = undefined;
  await settings.onLocked?.();
  return await write({ ...run, store: fencedDocuments(store, held.fence), since: held.position });
}

async function beginWriting(run: ImportRun, inspection: Inspection): Promise<Writing> {
  const { settings, store, base } = run;
  const { dryRun, onConflict = 'report', passwordHashing = defaultPasswordHashing, caller } = settings;
  return {
    ...run,
    inspection,
    onConflict,
    passwordHashing,
    callerPath: caller === undefined ? undefined : documentPath(userKey(caller.userId)),
    reservedNames: new ReservedNames(store),
    removed: await readOthersRemoved(store, orgIdsOf(inspection)),
    loginNamesByDefault: (await describeInstance(store)).loginNamesByDomain,
    pace: dryRun === true ? {} : base,
    attempts: 0,
    expectExisting: false,
  };
}

/**
 * Reads the organisations whose removal was interrupted.
 * @throws IdentityError ABORTED if it is one of the file's
 */
async function readOthersRemoved(store: DocumentStore, orgIds: readonly string[]): Promise<ReadonlySet<string>> {
  const removed = await readRemovals(store);
  const own = orgIds.find((orgId) => removed.has(orgId));
  if (own !== undefined) throw organisationRemoved({ orgId: own });
  return removed;
}

/** Writes the organisations, then their records phase by phase. */
async function writeFile(writing: Writing): Promise<ImportResponse> {
  const { settings, inspection, report } = writing;
  const { dryRun = false, newOrgsOnly = false } = settings;
  if (newOrgsOnly) await requireNew(writing);
  for (const warning of loginNameWarnings(inspection, writing.loginNamesByDefault)) report.addFileWarning(warning);
  enterPhase(writing, 1);
  const targets = await writeOrganisations(writing);
  // Another import may have created one of them since.
  if (newOrgsOnly) await requireNew(writing);
  await writePhases(writing, targets);
  for (const warning of missingWarnings(inspection, settings)) report.addWarning(warning);
  countNotCarried(inspection, settings, report);
  return report.toJson({ proved: inspection.proved, dryRun });
}

/**
 * Requires that no organisation exists, except those that this call has created.
 * @throws IdentityError ALREADY_EXISTS with the ids of the others; the signal's reason
 */
async function requireNew(writing: Writing): Promise<void> {
  const existing: string[] = [];
  for await (const batch of inTurns(orgIdsOf(writing.inspection), READ_BATCH, writing.signal)) {
    const documents = await writing.store.getMany(batch.map(organisationKey), ['createdAt']);
    existing.push(
      ...batch.filter((_, index) => {
        const document = documents[index];
        return document !== undefined && !isCreatedByImport(writing, document);
      }),
    );
  }
  if (existing.length > 0) throw organisationsExist({ orgIds: firstIds(existing) });
}

function fileLimits({ limits, dryRun }: ImportSettings): FileLimits {
  if (limits === undefined || dryRun !== true) return limits ?? {};
  return { ...limits, records: limits.dryRunRecords };
}

async function writePhases(writing: Writing, targets: Targets): Promise<void> {
  const { inspection, settings } = writing;
  for (const phase of phases) {
    enterPhase(writing, phase + 1);
    const carried = carriedSections(phase, inspection, settings);
    if (carried.size === 0) continue;
    if ([...carried].some(claimsLoginNames)) await settleLoginNames(writing, targets);
    await writePhase(writing, targets, phase, new Set([...carried, ...parentSections(carried, inspection)]));
  }
}

/** Enters a phase as reports count them: the organisations are the first one. */
function enterPhase({ report, settings }: ImportRun, phase: number): void {
  report.phase = phase;
  settings.onPhase?.();
}

function orgIdsOf({ organisations }: Inspection): string[] {
  return organisations.map(({ orgId }) => orgId);
}

/** Returns the numbers of records to import, by section. */
function recordTotals({ organisations, counts }: Inspection): Readonly<Record<string, number>> {
  const totals = Object.entries({ [organisationSection.name]: organisations.length, ...counts });
  return Object.fromEntries(totals.filter(([, count]) => count > 0));
}

/** The errors after which the same request would not continue the import. */
const unresumable = [objectReplaced, organisationsExist];

/** Adds the import's progress to the error of an import that was interrupted, or failed after its first write. */
function withProgress(error: unknown, { signal, report }: Pick<ImportRun, 'signal' | 'report'>): unknown {
  if (!signal.aborted && Object.keys(report.totals).length === 0) return error;
  return IdentityError.from(error).withDetail({
    '@type': 'type.googleapis.com/identity.v1.ImportProgress',
    written: report.written,
    ...(report.total === undefined ? {} : { total: report.total }),
    resumable: !unresumable.some((kind) => kind.is(error)),
  });
}
