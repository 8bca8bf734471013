import { ExportFileReader } from '../../shared/exportFile/reader.ts';
import { findSection } from '../../shared/organisation/allSections.ts';
import type { RecordPlan } from '../../shared/organisation/recordPlan.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { documentPath } from '../../shared/store/store.ts';
import { chunksInTurns, isTurnOver, yieldToEventLoop } from '../../shared/turns.ts';
import { RecordWriter } from './commit/recordWriter.ts';
import type { ImportContext } from './context.ts';
import { EarlierRecords } from './plan/earlierRecords.ts';
import { PhasePlanner } from './plan/phasePlanner.ts';
import type { Targets } from './plan/targets.ts';
import { findUnchanged } from './read/unchangedRecords.ts';

/**
 * Writes the records of one phase.
 * @param read the sections that are, or contain, records of the phase
 * @throws the signal's reason, once the batches in flight are written
 */
export async function writePhase(
  context: ImportContext,
  targets: Targets,
  phase: Section['phase'],
  read: ReadonlySet<Section>,
): Promise<void> {
  const { source, signal, report, mirror, inspection } = context;
  const written = new Set([...read].filter((section) => section.phase === phase));
  const unchanged = await findUnchanged(context, targets, written);
  if (unchanged.size === [...written].reduce((sum, { name }) => sum + (inspection.counts[name] ?? 0), 0)) return;
  // With `report`, no stored record is changed.
  using earlier = context.rules.onConflict === 'report' ? undefined : new EarlierRecords();
  const planner = new PhasePlanner(context, targets, phase, earlier);
  const isRead = (name: string) => {
    const section = findSection(name);
    return section !== undefined && read.has(section);
  };
  const reader = new ExportFileReader(isRead, { isSkipped: (path) => unchanged.has(path) });
  await using writer = new RecordWriter(context, ({ plan, outcome }) => {
    const path = documentPath(plan.key);
    mirror?.deletions.keep(path);
    report.add(plan.record, mirror?.onSettled(path, outcome) ?? outcome);
  });
  // The embedded database is synchronous: without yielding to the event loop no timer fires, not even the timeout.
  for await (const chunk of chunksInTurns(source.open(signal))) {
    const plans: RecordPlan[] = [];
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
