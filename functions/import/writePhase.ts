import { ExportFileReader } from '../../shared/exportFile/reader.ts';
import type { JsonPath } from '../../shared/json/jsonError.ts';
import { findSection } from '../../shared/organisation/allSections.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { type DocumentKey, documentPath } from '../../shared/store/store.ts';
import { chunksInTurns, isTurnOver, yieldToEventLoop } from '../../shared/turns.ts';
import { RecordWriter } from './commit/recordWriter.ts';
import type { ImportContext } from './context.ts';
import type { Mirror } from './mirror/deletions.ts';
import { EarlierRecords } from './plan/earlierRecords.ts';
import { PhasePlanner } from './plan/phasePlanner.ts';
import type { Targets } from './plan/targets.ts';
import { findUnchanged } from './read/unchangedRecords.ts';
import type { Planned, RecordOutcome } from './stages.ts';

/**
 * Writes the records of one phase.
 * @param read the sections of the phase, and the sections whose records contain records of the phase
 * @throws the signal's reason after an abort, once the batches in flight are written
 */
export async function writePhase(
  context: ImportContext,
  targets: Targets,
  phase: Section['phase'],
  read: ReadonlySet<Section>,
): Promise<void> {
  const { source, signal, mirror, inspection, state } = context;
  const written = new Set([...read].filter((section) => section.phase === phase));
  const unchanged = await findUnchanged(context, targets, written);
  if (unchanged.size === [...written].reduce((sum, { name }) => sum + (inspection.counts[name] ?? 0), 0)) return;
  // With `report`, the import never overwrites a stored record, not even with a repeated record of the file. So
  // `EarlierRecords` is not needed.
  using earlier = context.rules.onConflict === 'report' ? undefined : new EarlierRecords();
  const planner = new PhasePlanner(context, targets, phase, earlier);
  const isRead = (name: string) => {
    const section = findSection(name);
    return section !== undefined && read.has(section);
  };
  const isSkipped = unchanged.size === 0 ? undefined : (path: JsonPath) => unchanged.has(path);
  const reader = new ExportFileReader(isRead, { isSkipped });
  await using writer = new RecordWriter(context, ({ plan, outcome }) => {
    state.report.add(plan.record, mirror === undefined ? outcome : settleMirrored(mirror, plan.key, outcome));
  });
  // The embedded database is synchronous. So yield to the event loop: otherwise no timer would fire, not even the
  // import's timeout.
  for await (const chunk of chunksInTurns(source.open(signal))) {
    const plans: Planned[] = [];
    for (const item of reader.push(chunk)) {
      if (isTurnOver()) await yieldToEventLoop();
      for (const plan of planner.plan(item)) plans.push(plan);
    }
    await writer.add(plans);
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
}

/** Cancels the deletion of a stored record that the file contains. Returns the outcome to report. */
function settleMirrored({ deletions, onSettled }: Mirror, key: DocumentKey, outcome: RecordOutcome): RecordOutcome {
  const path = documentPath(key);
  deletions.keep(path);
  return onSettled(path, outcome);
}
