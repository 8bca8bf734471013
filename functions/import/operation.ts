import { readMemberRemovals } from '../../shared/accounts/memberRemovals.ts';
import { readRemovals } from '../../shared/accounts/runningRemovals.ts';
import { systemAccount } from '../../shared/audit/openAudit.ts';
import { bcryptCosts } from '../../shared/bcryptCosts.ts';
import { defined } from '../../shared/defined.ts';
import { organisationRemoved, organisationsExist } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectReplaced } from '../../shared/errors/storageErrors.ts';
import type { FileLimits } from '../../shared/exportFile/fileLimits.ts';
import { fileWarnings, ignoredWarning, timeoutWarning } from '../../shared/exportFile/fileWarnings.ts';
import { combineVisitors, type Inspection, inspect } from '../../shared/exportFile/inspection.ts';
import { requireMirrorable } from '../../shared/exportFile/mirroredContent.ts';
import { organisationFilter } from '../../shared/exportFile/organisationFilter.ts';
import type { ExportFileSource } from '../../shared/exportFile/reader.ts';
import { organisationSection, sections } from '../../shared/organisation/allSections.ts';
import { domainSection } from '../../shared/organisation/sections/domains.ts';
import { phases } from '../../shared/organisation/sections/section.ts';
import { organisationKey, userKey } from '../../shared/store/documentKeys.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { fencedDocuments, whileHeld } from '../../shared/store/lock/fence.ts';
import type { LockRequest } from '../../shared/store/lock/instanceLock.ts';
import { openOverlay, trialAdvice } from '../../shared/store/overlay.ts';
import { type Collection, type DocumentStore, documentPath, type Store } from '../../shared/store/store.ts';
import { CreatedRecords } from './check/createdRecords.ts';
import { Pace } from './commit/pace.ts';
import type { Beginning, ImportContext, ImportSettings } from './context.ts';
import { type ImportResponse, recordConflict } from './contract.ts';
import { Deletions, type Mirror } from './mirror/deletions.ts';
import { keyCollector } from './mirror/findDeletions.ts';
import { type MirrorCall, mirrorFile, tryMirror } from './mirror/mirrorFile.ts';
import { InspectedRecords } from './plan/inspectedRecords.ts';
import { createDomainVersion, ReservedNames } from './read/reservedNames.ts';
import { excessOf } from './results/remainingTime.ts';
import { ImportReport } from './results/report.ts';
import { isCarried, orgIdsOf } from './selectedContent.ts';
import { AttemptStamps } from './stamp.ts';
import { writeFile } from './writeFile.ts';

/**
 * Returns the collections whose records a dry run must keep with their bodies: checks of references read these bodies,
 * or the records contain other records. For all other collections, the import only needs to know whether a record
 * exists.
 */
function collectionsReadAgain({ nested: counts }: Inspection): ReadonlySet<Collection> {
  const holding = sections.filter(({ nested }) => nested !== undefined && counts[nested.section.name] !== undefined);
  const checked = sections.flatMap(({ references = [] }) => references.filter(({ check }) => check !== undefined));
  return new Set([...holding, ...checked].map(({ collection }) => collection));
}

interface ImportCall extends Pick<ImportContext, 'source' | 'inspected' | 'signal' | 'beginning'> {
  readonly report: ImportReport;
  readonly store: Store;
  /** Undefined unless the import mirrors the file. */
  readonly deletions: Deletions | undefined;
  readonly settings: ImportSettings;
  readonly stamp: string;
}

/**
 * Imports organisations (specification 4.3): validates the whole export file, writes the organisations, then their
 * records phase by phase. To continue an interrupted import, the user sends its request again: records that already
 * exist with equal content then count as unchanged.
 * @param stamp the creation and change date of the written records, unique to this import; ISO 8601, UTC
 * @param signal stops the import between two batches
 * @returns the import response
 * @throws IdentityError INVALID_ARGUMENT for an invalid export file, before anything is written; the signal's reason
 * after an abort. Every error after the first write contains the import's progress
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
  const report = new ImportReport(settings);
  using deletions = settings.mirror === true ? new Deletions() : undefined;
  report.deletions = deletions;
  try {
    const beginning = settings.beginning ?? (await readBeginning(store, signal));
    const isStored = async (orgId: string) => (await store.getMany([organisationKey(orgId)], []))[0] !== undefined;
    const inspected = new InspectedRecords(isStored);
    const call = { source, inspected, settings, store, stamp, signal, report, deletions, beginning };
    const inspection = await inspectFile(call);
    return await (settings.dryRun === true ? tryFile(call, inspection) : locked(call, inspection));
  } catch (error) {
    throw settings.dryRun === true ? error : withProgress(error, { signal, report });
  } finally {
    // The response may depend on records that another import has committed but that a power failure could still undo.
    // Wait until these records are durable.
    await store.durable();
  }
}

/** Simulates an import: writes the file into a temporary overlay of a snapshot, without the instance's lock. */
async function tryFile(call: ImportCall, inspection: Inspection): Promise<ImportResponse> {
  if (call.deletions !== undefined) return await tryMirror(mirrorCall(call, inspection, call.deletions));
  await using overlay = await openOverlay(call.store, collectionsReadAgain(inspection));
  await writeFile(await begin(call, inspection, overlay));
  return call.report.toJson({ proved: inspection.proved, dryRun: true });
}

function mirrorCall(call: ImportCall, inspection: Inspection, deletions: Deletions): MirrorCall {
  return {
    ...call,
    deletions,
    inspection,
    readAgain: collectionsReadAgain(inspection),
    begin: (store, report, mirror) => begin({ ...call, report }, inspection, store, mirror),
  };
}

/**
 * Reads facts by which an import later recognises changes of other calls. The import must not undo changes of calls
 * that do not use the instance's lock.
 */
export async function readBeginning(store: Store, signal: AbortSignal): Promise<Beginning> {
  const [position, removals] = await Promise.all([store.lock.position(signal), readMemberRemovals(store)]);
  return { position, memberRemovals: removals.count };
}

async function inspectFile(call: ImportCall): Promise<Inspection> {
  const { source, inspected, settings, signal, report, deletions } = call;
  const isSelected = organisationFilter(settings);
  const visitor = combineVisitors([inspected, ...(deletions === undefined ? [] : [keyCollector(deletions)])]);
  const reading = { isSelected, limits: fileLimits(settings), visitor };
  const inspection = settings.inspection ?? (await inspect(source, signal, reading));
  if (deletions !== undefined) requireMirrorable(inspection);
  for (const field of settings.ignored ?? []) report.addFileWarning(ignoredWarning(field));
  for (const warning of fileWarnings(inspection)) report.addFileWarning(warning);
  const records = { phases: phases.length + 1, total: recordTotals(inspection, settings) };
  report.total = records.total;
  // An import writes one section after the other, so its expected duration is the sum of the durations of all sections.
  const { creationMs } = call.store.advice();
  report.expectedMs = Object.values(records.total).reduce((ms, count) => ms + creationMs(count), 0);
  const leftMs = settings.msLeft?.();
  if (settings.dryRun === true && leftMs !== undefined && report.expectedMs > leftMs)
    report.addFileWarning(timeoutWarning(report.expectedMs, leftMs));
  await settings.onInspected?.({
    digest: inspection.digest,
    orgIds: orgIdsOf(inspection),
    totals: () => report.totals,
    progress: () => ({
      ...records,
      phase: report.phase,
      records: report.records,
      ...defined({ waitingFor: report.waitingFor, exceedsTimeout: excessOf(report.remainingMs, settings.msLeft?.()) }),
    }),
  });
  return inspection;
}

/**
 * Writes the file while the import holds the instance's lock. The lock is exclusive if the import can change stored
 * records.
 */
async function locked(call: ImportCall, inspection: Inspection): Promise<ImportResponse> {
  const { settings, signal, report } = call;
  const request: LockRequest = {
    mode: settings.onConflict === 'overwrite' ? 'alone' : 'shared',
    operation: 'import',
    caller: settings.caller?.userId ?? systemAccount(),
    signal,
    onWait: (holder) => {
      report.waitingFor = holder;
      settings.onWait?.();
      settings.onProgress?.();
    },
  };
  await using held = await call.store.lock.take(request);
  report.waitingFor = undefined;
  await settings.onLocked?.();
  const holding = { ...call, signal: whileHeld(signal, held.fence) };
  const documents = fencedDocuments(call.store, held.fence);
  if (call.deletions !== undefined) return await mirrorFile(mirrorCall(holding, inspection, call.deletions), documents);
  await writeFile(await begin(holding, inspection, documents));
  return report.toJson({ proved: inspection.proved, dryRun: false });
}

async function begin(
  { settings, stamp, source, inspected, store: base, signal, report, beginning }: ImportCall,
  inspection: Inspection,
  store: DocumentStore,
  mirror?: Mirror,
): Promise<ImportContext> {
  const [removed, instance] = await Promise.all([
    readOthersRemoved(store, orgIdsOf(inspection)),
    describeInstance(store),
    inspection.counts[domainSection.name] === undefined ? undefined : createDomainVersion(store),
  ]);
  const { dryRun, onConflict = 'report', bcryptCost = bcryptCosts.default, caller } = settings;
  const callerPath = caller?.userId === undefined ? undefined : documentPath(userKey(caller.userId));
  return {
    settings,
    source,
    inspection,
    inspected,
    store,
    base,
    signal,
    rules: { onConflict: recordConflict(onConflict), stamp, callerPath },
    beginning,
    bcryptCost,
    mirror,
    removed,
    loginNamesByDefault: instance.loginNamesByDomain,
    state: {
      report,
      stamps: new AttemptStamps(stamp),
      pace: new Pace(dryRun === true ? trialAdvice : base.advice),
      created: new CreatedRecords(stamp, inspection.nested),
      reservedNames: new ReservedNames(mirror),
    },
  };
}

/**
 * Returns the ids of the organisations whose removal was interrupted.
 * @throws IdentityError ABORTED if the file contains one of these organisations
 */
async function readOthersRemoved(store: DocumentStore, orgIds: readonly string[]): Promise<ReadonlySet<string>> {
  const removed = await readRemovals(store);
  const removedOrgId = orgIds.find((orgId) => removed.has(orgId));
  if (removedOrgId !== undefined) throw organisationRemoved({ orgId: removedOrgId });
  return removed;
}

/**
 * Returns the limits of the file. Only simulations limit the number of records: dry runs, and mirroring imports,
 * because they begin with a simulation.
 */
function fileLimits({ limits, dryRun, mirror }: ImportSettings): FileLimits {
  if (limits === undefined || (dryRun !== true && mirror !== true)) return limits ?? {};
  return { ...limits, records: limits.dryRunRecords };
}

function recordTotals(
  { organisations, counts }: Inspection,
  { withKeys }: ImportSettings,
): Readonly<Record<string, number>> {
  const carried = sections.filter((section) => isCarried(section, withKeys));
  const totals = carried.map(({ name }) => [name, counts[name] ?? 0] as const);
  return Object.fromEntries(
    [[organisationSection.name, organisations.length] as const, ...totals].filter(([, count]) => count > 0),
  );
}

/** The errors after which a repetition of the request cannot continue the import. */
const unresumable = [objectReplaced, organisationsExist];

function withProgress(error: unknown, { signal, report }: Pick<ImportCall, 'signal' | 'report'>): unknown {
  if (!signal.aborted && Object.keys(report.totals).length === 0) return error;
  return IdentityError.from(error).withDetail({
    '@type': 'type.googleapis.com/identity.v1.ImportProgress',
    written: report.written,
    ...defined({ total: report.total }),
    resumable: !unresumable.some((kind) => kind.is(error)),
  });
}
