import type { Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { chunksInTurns } from '../../../shared/turns.ts';
import { isWritten } from '../outcome.ts';
import { ExportFileReader } from '../source/exportFileReader.ts';
import { type PlanningState, planItem } from './planItem.ts';
import { type OutcomeListener, RecordWriter } from './recordWriter.ts';

/** The state that the phases of one import share. */
export interface ImportWork extends PlanningState {
  readonly signal: AbortSignal;
}

/**
 * Writes the records of one phase, except those that an earlier call imported.
 * @param read the sections that have or hold the phase's records
 * @throws the signal's reason, once the batches in flight are written
 */
export async function writePhase(work: ImportWork, phase: Section['phase'], read: ReadonlySet<Section>): Promise<void> {
  const { progress, signal } = work;
  try {
    await writeRecords(work, phase, read);
  } finally {
    // Also when a batch in flight has failed, because the database was unavailable at the deadline.
    if (signal.aborted) await progress.save();
  }
  signal.throwIfAborted();
}

async function writeRecords(work: ImportWork, phase: Section['phase'], read: ReadonlySet<Section>): Promise<void> {
  const { source, progress, signal } = work;
  const reader = new ExportFileReader((name) => {
    const section = findSection(name);
    return section !== undefined && read.has(section);
  });
  await using writer = createWriter(work, phase);
  const counter = { phase, next: 0 };
  // The embedded database is synchronous: without turns no timer fires, not even the timeout.
  for await (const chunk of chunksInTurns(source.open(signal))) {
    await writer.add(reader.push(chunk).flatMap((item) => planItem(work, counter, item)));
    await progress.saveIfDue();
    if (signal.aborted) break;
  }
  await writer.finish();
}

function createWriter({ context, report, progress, signal }: ImportWork, phase: Section['phase']): RecordWriter {
  const settled: OutcomeListener = ({ organisation, ordinal, plan }, outcome) => {
    const revisit = report.add(organisation, plan.record, outcome);
    progress.settle(phase, ordinal, { written: isWritten(outcome), revisit });
  };
  return new RecordWriter(context, settled, signal);
}
