import { deadlineExceeded } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { phases, type Section } from '../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../shared/organisation/sections.ts';
import { openOverlay } from '../../shared/store/overlay.ts';
import type { Collection, DocumentStore, Store } from '../../shared/store/store.ts';
import type { ImportResponse, OnConflict } from './contract.ts';
import { type ExportFileSource, type Inspection, inspect } from './inspect/inspection.ts';
import { ImportProgress } from './progress/importProgress.ts';
import { ImportReport } from './progress/report.ts';
import type { BatchContext } from './write/batchContext.ts';
import { writeOrganisations } from './write/organisations.ts';
import { type ImportWork, writePhase } from './write/phase.ts';
import { ReservedNames } from './write/references.ts';

/** What the import is asked for beside its document. */
export interface ImportOptions {
  /** Whether machine and application keys are taken as well. */
  readonly withKeys: boolean;
  /** What happens to a record that is there with other content; by default it is reported. */
  readonly onConflict?: OnConflict;
  /** Whether to report what the import would do, and to write nothing. */
  readonly dryRun?: boolean;
}

/** The collections whose records others look into, beside asking whether they are there. */
const lookedInto: ReadonlySet<Collection> = new Set(
  sections.flatMap(({ references = [] }) => references.flatMap((one) => (one.check ? [one.collection] : []))),
);

/**
 * Imports organisations (specification 4.3): reads and checks the whole document, writes the organisations, then their
 * records phase by phase. Can be sent again after any interruption: what is there already counts as unchanged, and where
 * there is a checkpoint it goes on from there.
 * @param stamp the date of what is created or changed, different from that of any other import; ISO 8601, UTC
 * @param signal ends the work between two batches, with its reason
 * @returns the import response
 * @throws IdentityError INVALID_ARGUMENT for a document that is not as the contract says, before anything is written;
 * DEADLINE_EXCEEDED with the number of records that are in
 */
export async function importOrganisations(
  store: Store,
  source: ExportFileSource,
  options: ImportOptions,
  stamp: string,
  signal: AbortSignal,
): Promise<ImportResponse> {
  if (options.dryRun !== true) return importInto(store, source, options, stamp, signal);
  await using overlay = await openOverlay(store, lookedInto);
  return await importInto(overlay, source, options, stamp, signal);
}

async function importInto(
  store: DocumentStore,
  source: ExportFileSource,
  options: ImportOptions,
  stamp: string,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const { onConflict = 'report', dryRun = false } = options;
  const reservedNames = new ReservedNames(store);
  const context: BatchContext = { store, stamp, onConflict, reservedNames, batches: 0, expectExisting: false };
  const report = new ImportReport();
  let inspection: Inspection | undefined;
  try {
    inspection = await inspect(source, signal);
    const progress = await ImportProgress.load(context, importKey(inspection, options));
    const targets = await writeOrganisations(context, inspection.organisations, report);
    await writePhases({ context, source, targets, report, progress, signal }, inspection, options);
    await progress.finish();
    countLeftOut(inspection, options, report);
    return report.toJson({ proved: inspection.proved, resumed: progress.resumed, dryRun });
  } catch (error) {
    throw withProgress(error, report, inspection);
  }
}

function importKey({ digest }: Inspection, { withKeys, onConflict = 'report' }: ImportOptions): string {
  return [digest, onConflict, ...(withKeys ? ['keys'] : [])].join(' ');
}

async function writePhases(work: ImportWork, inspection: Inspection, options: ImportOptions): Promise<void> {
  for (const phase of phases) {
    const wanted = phaseSections(phase, inspection, options);
    const records = [...wanted].map(({ name }) => [name, inspection.counts[name] ?? 0] as const);
    const total = records.reduce((sum, [, count]) => sum + count, 0);
    if (!work.progress.of(phase).isComplete(total)) await writePhase(work, phase, wanted);
    else for (const [name, count] of records) work.report.count('unchanged', name, count);
  }
}

/** The sections of a phase of which the document holds any record that is carried. */
function phaseSections(phase: Section['phase'], { counts }: Inspection, { withKeys }: ImportOptions): Set<Section> {
  return new Set(
    sections.filter(
      (section) => section.phase === phase && (counts[section.name] ?? 0) > 0 && isCarried(section, withKeys),
    ),
  );
}

function isCarried(section: Section, withKeys: boolean): boolean {
  return section.keys !== true || withKeys;
}

function countLeftOut({ counts, organisations }: Inspection, { withKeys }: ImportOptions, report: ImportReport): void {
  for (const section of sections) {
    if (isCarried(section, withKeys)) continue;
    report.count('notCarried', section.name, counts[section.name] ?? 0);
  }
  for (const [name, count] of organisations.flatMap(({ orphaned }) => Object.entries(orphaned))) {
    report.count('notCarried', name, count);
  }
}

/** An import that ran out of time says how far it came, and that sending it again goes on from there. */
function withProgress(error: unknown, report: ImportReport, inspection: Inspection | undefined): unknown {
  if (!(error instanceof IdentityError) || error.code !== 'DEADLINE_EXCEEDED') return error;
  const total =
    inspection === undefined
      ? {}
      : { total: { [organisationSection.name]: inspection.organisations.length, ...inspection.counts } };
  return deadlineExceeded([
    { '@type': 'type.googleapis.com/identity.v1.ImportProgress', written: report.written, ...total, resumable: true },
  ]);
}
