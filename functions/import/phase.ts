import { setImmediate } from 'node:timers/promises';
import { complexityFault, type PasswordComplexity } from '../../shared/auth/passwordComplexity.ts';
import { type OrganisationRecord, readRecord } from '../../shared/contract/record.ts';
import { planRecord } from '../../shared/contract/recordPlan.ts';
import type { RecordFault, Section } from '../../shared/contract/section.ts';
import { parseJson } from '../../shared/json/jsonScanner.ts';
import type { BatchContext } from './batchContext.ts';
import { type DocumentItem, DocumentReader } from './documentReader.ts';
import type { ImportProgress } from './importProgress.ts';
import type { ImportReport } from './importReport.ts';
import { type DocumentSource, sectionOf } from './inspection.ts';
import { loginPolicyWith } from './loginPolicyV1.ts';
import type { Targets } from './organisations.ts';
import { isWritten } from './outcome.ts';
import { withPhoneNumber } from './phoneNumber.ts';
import { type PlacedPlan, RecordWriter } from './recordWriter.ts';

/** What the phases of one import share. */
export interface ImportWork {
  readonly context: BatchContext;
  readonly source: DocumentSource;
  readonly targets: Targets;
  readonly report: ImportReport;
  readonly progress: ImportProgress;
  readonly signal: AbortSignal;
}

/**
 * Writes the records of one phase, save those that an earlier call has brought in.
 * @param wanted the phase's sections, of which the document holds any record
 * @throws the signal's reason, once what was begun is written
 */
export async function writePhase(
  work: ImportWork,
  phase: Section['phase'],
  wanted: ReadonlySet<Section>,
): Promise<void> {
  const { source, progress, signal } = work;
  const reader = new DocumentReader((name) => {
    const section = sectionOf(name);
    return section !== undefined && wanted.has(section);
  });
  const writer = writerOf(work, phase);
  const numbered = { phase, next: 0 };
  for await (const chunk of source.open(signal)) {
    await writer.add(reader.push(chunk).flatMap((item) => placedPlan(work, numbered, item)));
    await progress.saveNowAndThen();
    // The embedded database answers at once: without this nothing else gets its turn, a time-out included.
    await setImmediate();
    if (signal.aborted) break;
  }
  await writer.finish();
  if (signal.aborted) await progress.save();
  signal.throwIfAborted();
}

function writerOf({ context, report, progress }: ImportWork, phase: Section['phase']): RecordWriter {
  return new RecordWriter(context, ({ organisation, ordinal, plan }, outcome) => {
    const lookAgain = report.add(organisation, plan.record, outcome);
    progress.settle(phase, ordinal, { written: isWritten(outcome), lookAgain });
  });
}

/** The phase, and the number of its next record in the document. */
interface Numbered {
  readonly phase: Section['phase'];
  next: number;
}

function placedPlan(work: ImportWork, numbered: Numbered, item: DocumentItem): PlacedPlan[] {
  const { targets, report } = work;
  const section = sectionOf(item.name);
  if (section === undefined || item.organisation === undefined) return [];
  const ordinal = numbered.next++;
  const progress = work.progress.of(numbered.phase);
  if (progress.isDone(ordinal)) {
    report.count('unchanged', section.name);
    return [];
  }
  const target = targets.get(item.organisation);
  if (target === undefined) {
    report.count('failed', section.name);
    progress.mark(ordinal, true);
    return [];
  }
  const { header, loginNamesByDomain, passwordComplexity } = target;
  const value = parseJson(item.text, item.path);
  const whole = section.name === 'loginPolicy' ? loginPolicyWith(value, header.loginPolicyAdditions) : value;
  const { record, fault = faultOf(record, passwordComplexity, work.context.stamp) } = withPhoneNumber(
    readRecord(section, whole, header.orgId),
  );
  if (fault !== undefined) {
    progress.mark(ordinal, report.add(item.organisation, record, { kind: 'failed', fault }));
    return [];
  }
  return [{ organisation: item.organisation, ordinal, plan: planRecord(record, loginNamesByDomain) }];
}

/** What is wrong with a record whatever else there is: by its section's check, or a password that is too weak. */
function faultOf(
  { section, json, clearPassword }: OrganisationRecord,
  policy: PasswordComplexity,
  now: string,
): RecordFault | undefined {
  const fault = section.check?.(json, now);
  return fault ?? (clearPassword === undefined ? undefined : complexityFault(policy, clearPassword));
}
