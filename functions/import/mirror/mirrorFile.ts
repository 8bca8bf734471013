import type { OnDeleting } from '../../../shared/accounts/dependents.ts';
import { finishDeletions, restoreUndecided } from '../../../shared/accounts/userRemoval.ts';
import { defined } from '../../../shared/defined.ts';
import { mirrorTooLarge } from '../../../shared/errors/errors.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import { MAX_LISTED_ISSUES } from '../../../shared/organisation/recordErrors.ts';
import { openOverlay } from '../../../shared/store/overlay.ts';
import { type Collection, type DocumentStore, documentPath, type Store } from '../../../shared/store/store.ts';
import type { Beginning, ImportContext, ImportSettings } from '../context.ts';
import type { ImportError, ImportResponse } from '../contract.ts';
import { ImportReport } from '../results/report.ts';
import type { RecordOutcome } from '../stages.ts';
import { writeFile } from '../writeFile.ts';
import { deleteEarly, deleteLate } from './deleteRecords.ts';
import type { Deletions, Mirror } from './deletions.ts';
import { describeDeletion, type ListedDeletion, listDeletions } from './describeRecord.ts';
import { findAlong, findDeletions, findRequiring, type MirroredStore, requireCurrent } from './findDeletions.ts';
import { findObstacleErrors, findOwnerErrors } from './obstacles.ts';

export interface MirrorCall {
  readonly store: Store;
  readonly settings: ImportSettings;
  readonly inspection: Inspection;
  readonly signal: AbortSignal;
  readonly report: ImportReport;
  readonly beginning: Beginning;
  readonly deletions: Deletions;
  /** The collections whose documents the simulation keeps with their bodies, because it reads these bodies later. */
  readonly readAgain: ReadonlySet<Collection>;
  readonly begin: (store: DocumentStore, report: ImportReport, mirror: Mirror) => Promise<ImportContext>;
}

/** Simulates a mirroring import, without the instance's lock and without writes to the database. */
export async function tryMirror(call: MirrorCall): Promise<ImportResponse> {
  const { report, deletions, store } = call;
  const existing = await requireCurrent(store, call);
  const planned = await planDeletions(call, store, existing);
  const errors = [...planned, ...(await tryWriting(call, existing, report))];
  for (const error of errors) report.addError(error);
  if (report.hasErrors) return response(call);
  deletions.markAllDone();
  return response(call, await listDeletions(store, deletions, MAX_LISTED_ISSUES));
}

/**
 * Mirrors a file while the import holds the instance's lock. First simulates the import on a snapshot, so that
 * everything is decided before the first write. If the simulation finds an error, deletes nothing, and overwrites
 * records like an import without `mirror`. Otherwise deletes records after it has written the file's records, except
 * records whose names the file needs and the records that require them: it deletes these earlier.
 * @param documents the database, which commits only while the import holds the instance's lock
 */
export async function mirrorFile(call: MirrorCall, documents: DocumentStore): Promise<ImportResponse> {
  const { settings, report, deletions, signal, begin } = call;
  const store = { ...documents, snapshot: () => call.store.snapshot() };
  const existing = await requireCurrent(store, call);
  await restoreUndecided(store, existing);
  const planned = await planDeletions(call, store, existing);
  const trial = new ImportReport({ ids: false });
  const errors = [...planned, ...(await tryWriting(call, existing, trial))];
  const isDeleting = errors.length === 0 && !trial.hasErrors;
  const { maxDeleted = 0 } = settings;
  if (isDeleting && deletions.size > maxDeleted) throw mirrorTooLarge({ records: deletions.size, limit: maxDeleted });
  const listed = isDeleting ? await listDeletions(store, deletions, MAX_LISTED_ISSUES) : [];
  const onDeleting: OnDeleting = async (transaction, documents) => {
    const deleted = documents.filter(({ key }) => !deletions.isReplaced(documentPath(key)));
    const described = deleted.flatMap(({ stored }) => describeDeletion(stored, stored.orgId));
    await settings.onDeleting?.(transaction, described);
  };
  await finishDeletions(store, existing, { signal, onFound: deletions.markFound, onDeleting });
  const deleting = { ...call, store, onDeleting };
  if (isDeleting) await deleteEarly(deleting);
  const isFreeing = isDeleting && !report.hasErrors;
  const onFreed = (path: string) => deletions.markDone(path);
  const onSettled = (path: string, outcome: RecordOutcome) => asForeseen(outcome, deletions.foreseen(path));
  const mirror = mirrorOf(call, { isDeleting: isFreeing, onFreeing: onDeleting, onFreed, onSettled });
  await writeFile(await begin(documents, report, mirror));
  for (const error of errors) report.addError(error);
  if (isFreeing && !report.hasErrors) await deleteLate(deleting);
  return response(call, listed);
}

async function planDeletions(
  call: MirrorCall,
  store: MirroredStore,
  existing: ReadonlySet<string>,
): Promise<readonly ImportError[]> {
  const { deletions } = call;
  await findDeletions(store, existing, call, deletions);
  const obstacles = await findRequiring(store, existing, call, deletions);
  await findAlong(store, deletions, call.signal);
  return await findObstacleErrors(store, existing, call, deletions, obstacles);
}

/**
 * Simulates the import: writes the file into an overlay of a snapshot, as if the stored records in `deletions` did not
 * exist. Records whose deletion an earlier call has not finished count as deleted too.
 * @returns an error for each owner of the instance whose deletion would leave no active owner
 */
async function tryWriting(
  call: MirrorCall,
  existing: ReadonlySet<string>,
  report: ImportReport,
): Promise<readonly ImportError[]> {
  const { store, readAgain, begin, deletions, signal } = call;
  await using overlay = await openOverlay(store, readAgain);
  await finishDeletions({ ...overlay, snapshot: () => store.snapshot() }, existing, { signal });
  const onFreed = (path: string) => deletions.markFreed(path);
  const onSettled = (path: string, outcome: RecordOutcome) => {
    if (outcome.kind === 'overwritten' || outcome.kind === 'unchanged')
      deletions.foresee(path, { ...outcome, kind: outcome.kind });
    return outcome;
  };
  const onFreeing = async () => {};
  const mirror = mirrorOf(call, { isDeleting: true, onFreeing, onFreed, onSettled });
  await writeFile(await begin(overlay, report, mirror));
  deletions.settle();
  return await findOwnerErrors(store, overlay, deletions);
}

function mirrorOf({ deletions, settings }: MirrorCall, handlers: Omit<Mirror, 'deletions' | 'adopts'>): Mirror {
  return { deletions, adopts: new Set(settings.replaceChanged), ...handlers };
}

/**
 * Returns the outcome to report. If the import created a record only because it had deleted the stored version first,
 * this is the simulated outcome instead of `created`.
 */
function asForeseen(outcome: RecordOutcome, foreseen: ReturnType<Deletions['foreseen']>): RecordOutcome {
  if (outcome.kind !== 'created' || foreseen === undefined) return outcome;
  const { warnings } = outcome;
  return { ...foreseen, ...defined({ warnings }) };
}

function response(
  { inspection, settings, report, deletions }: MirrorCall,
  listed: readonly ListedDeletion[] = [],
): ImportResponse {
  const remaining = deletions.size - report.deletedRecords;
  if (remaining > 0) report.addFileWarning({ type: 'mirror', ...warn('nothing_deleted', { records: remaining }) });
  const done = listed.filter(({ path }) => deletions.isDone(path)).map(({ deletion }) => deletion);
  return report.toJson({ proved: inspection.proved, dryRun: settings.dryRun === true, deletions: done });
}
