import { setImmediate } from 'node:timers/promises';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { putAt, textAt } from '../../../shared/json/jsonObject.ts';
import { parseJson } from '../../../shared/json/jsonScanner.ts';
import { type PasswordComplexity, passwordIssue } from '../../../shared/organisation/passwords.ts';
import { type OrganisationRecord, readRecord, serialise } from '../../../shared/organisation/record.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue, Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import type { ExportFileSource, Inspection } from '../inspect/inspection.ts';
import { withAdditions } from '../inspect/organisationDraft.ts';
import type { RepeatedRecords } from '../inspect/repeatedRecords.ts';
import type { ImportProgress } from '../progress/importProgress.ts';
import type { ImportReport } from '../progress/report.ts';
import { type ExportFileItem, ExportFileReader } from '../source/exportFileReader.ts';
import { type BatchContext, isWritten, type PlacedPlan } from './batchContext.ts';
import type { Targets } from './organisations.ts';
import { type OutcomeListener, RecordWriter } from './recordWriter.ts';

/** The state that the phases of one import share. */
export interface ImportWork {
  readonly context: BatchContext;
  readonly source: ExportFileSource;
  readonly targets: Targets;
  /** The positions of the file's entries among the imported organisations; undefined for those left out. */
  readonly entries: Inspection['entries'];
  readonly repeated: Pick<RepeatedRecords, 'has'>;
  readonly report: ImportReport;
  readonly progress: ImportProgress;
  readonly signal: AbortSignal;
}

/**
 * Writes the records of one phase, except those that an earlier call imported.
 * @param carried the phase's sections that have records to import
 * @throws the signal's reason, once the batches in flight are written
 */
export async function writePhase(
  work: ImportWork,
  phase: Section['phase'],
  carried: ReadonlySet<Section>,
): Promise<void> {
  const { progress, signal } = work;
  try {
    await writeRecords(work, phase, carried);
  } finally {
    // Also when a batch in flight has failed, because the database was unavailable at the deadline.
    if (signal.aborted) await progress.save();
  }
  signal.throwIfAborted();
}

async function writeRecords(work: ImportWork, phase: Section['phase'], carried: ReadonlySet<Section>): Promise<void> {
  const { source, progress, signal } = work;
  const reader = new ExportFileReader((name) => {
    const section = findSection(name);
    return section !== undefined && carried.has(section);
  });
  await using writer = createWriter(work, phase);
  const counter = { phase, next: 0 };
  for await (const chunk of source.open(signal)) {
    await writer.add(reader.push(chunk).flatMap((item) => planItem(work, counter, item)));
    await progress.saveIfDue();
    // The embedded database is synchronous: without this yield no timer fires, not even the timeout.
    await setImmediate();
    if (signal.aborted) break;
  }
  await writer.finish();
}

function createWriter({ context, report, progress, signal }: ImportWork, phase: Section['phase']): RecordWriter {
  const listener: OutcomeListener = {
    settled: ({ organisation, ordinal, plan }, outcome) => {
      const revisit = report.add(organisation, plan.record, outcome);
      progress.settle(phase, ordinal, { written: isWritten(outcome), revisit });
    },
    deferred: ({ ordinal }) => progress.settle(phase, ordinal, { written: false, revisit: true }),
  };
  return new RecordWriter(context, listener, signal);
}

/** A phase, and the ordinal of its next record in the file. */
interface PhaseCounter {
  readonly phase: Section['phase'];
  next: number;
}

function planItem(work: ImportWork, counter: PhaseCounter, item: ExportFileItem): PlacedPlan[] {
  const { targets, report } = work;
  const section = findSection(item.name);
  if (section === undefined || item.organisation === undefined) return [];
  if (work.entries[item.organisation] === undefined) return [];
  const ordinal = counter.next++;
  const progress = work.progress.forPhase(counter.phase);
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
  const { organisation, header, loginNamesByDomain, passwordComplexity } = target;
  const value = parseJson(item.text, item.path);
  const merged = withAdditions(section, value, header.additions);
  const { record, issue: phoneIssue } = withPhoneNumber(readRecord(section, merged, header.orgId));
  const issue = work.repeated.has(item.path)
    ? section.error.exists
    : (phoneIssue ?? validateRecord(record, passwordComplexity, work.context));
  if (issue !== undefined) {
    progress.mark(ordinal, report.add(organisation, record, { kind: 'failed', issue }));
    return [];
  }
  return [{ organisation, ordinal, plan: planRecord(record, loginNamesByDomain) }];
}

/** Validates a record in isolation: by its section's check, and by the policy for its clear-text password. */
function validateRecord(
  { section, json, givenPassword }: OrganisationRecord,
  policy: PasswordComplexity,
  { stamp, passwordHashing }: BatchContext,
): RecordIssue | undefined {
  const issue = section.check?.(json, stamp);
  return issue ?? (givenPassword === undefined ? undefined : passwordIssue(policy, passwordHashing, givenPassword));
}

const INVALID_PHONE: RecordIssue = { id: 'PHONE-so0wa', key: 'Errors.User.Phone.Invalid' };

/**
 * Converts a person's phone number to E.164, as ZITADEL stores it (zitadel 3.4), or returns the issue of an invalid
 * number. Whether the number is assigned is not checked. The conversion is not part of a record's canonical form, since
 * the library's parsing may change while manifests must still match.
 */
export function withPhoneNumber(record: OrganisationRecord): { record: OrganisationRecord; issue?: RecordIssue } {
  const { section, json, orgId } = record;
  const input = section.phone === undefined ? '' : textAt(json, section.phone, orgId);
  if (section.phone === undefined || input === '') return { record };
  const phoneNumber = parsePhoneNumberFromString(input, { extract: false });
  if (phoneNumber === undefined) return { record, issue: INVALID_PHONE };
  if (phoneNumber.number === input) return { record };
  putAt(json, section.phone, phoneNumber.number);
  return { record: { ...record, ...serialise(json) } };
}
