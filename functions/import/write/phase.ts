import { setImmediate } from 'node:timers/promises';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { putAt, textAt } from '../../../shared/json/jsonObject.ts';
import { parseJson } from '../../../shared/json/jsonScanner.ts';
import { complexityIssue, type PasswordComplexity } from '../../../shared/organisation/passwords.ts';
import { type OrganisationRecord, readRecord, serialise } from '../../../shared/organisation/record.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue, Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import type { ExportFileSource } from '../inspect/inspection.ts';
import { withAdditions } from '../inspect/organisationDraft.ts';
import type { ImportProgress } from '../progress/importProgress.ts';
import type { ImportReport } from '../progress/report.ts';
import { type ExportFileItem, ExportFileReader } from '../source/exportFileReader.ts';
import { type BatchContext, isWritten } from './batchContext.ts';
import type { Targets } from './organisations.ts';
import { type PlacedPlan, RecordWriter } from './recordWriter.ts';

/** What the phases of one import share. */
export interface ImportWork {
  readonly context: BatchContext;
  readonly source: ExportFileSource;
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
  const reader = new ExportFileReader((name) => {
    const section = findSection(name);
    return section !== undefined && wanted.has(section);
  });
  const writer = createWriter(work, phase);
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

function createWriter({ context, report, progress }: ImportWork, phase: Section['phase']): RecordWriter {
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

function placedPlan(work: ImportWork, numbered: Numbered, item: ExportFileItem): PlacedPlan[] {
  const { targets, report } = work;
  const section = findSection(item.name);
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
  const whole = withAdditions(section, value, header.additions);
  const { record, issue = validateRecord(record, passwordComplexity, work.context.stamp) } = withPhoneNumber(
    readRecord(section, whole, header.orgId),
  );
  if (issue !== undefined) {
    progress.mark(ordinal, report.add(item.organisation, record, { kind: 'failed', issue }));
    return [];
  }
  return [{ organisation: item.organisation, ordinal, plan: planRecord(record, loginNamesByDomain) }];
}

/** What is wrong with a record whatever else there is: by its section's check, or a password that is too weak. */
function validateRecord(
  { section, json, clearPassword }: OrganisationRecord,
  policy: PasswordComplexity,
  now: string,
): RecordIssue | undefined {
  const issue = section.check?.(json, now);
  return issue ?? (clearPassword === undefined ? undefined : complexityIssue(policy, clearPassword));
}

const INVALID: RecordIssue = { id: 'PHONE-so0wa', key: 'Errors.User.Phone.Invalid' };

/**
 * A person with the phone number in E.164, as ZITADEL stores it (zitadel 3.4), or the issue of a number that cannot be
 * read. Whether it is in use anywhere does not matter. Not part of a record's canonical form, which a file's manifest
 * vouches for: how numbers are read may change with the library.
 */
export function withPhoneNumber(record: OrganisationRecord): { record: OrganisationRecord; issue?: RecordIssue } {
  const { section, json, orgId } = record;
  const given = section.phone === undefined ? '' : textAt(json, section.phone, orgId);
  if (section.phone === undefined || given === '') return { record };
  const read = parsePhoneNumberFromString(given, { extract: false });
  if (read === undefined) return { record, issue: INVALID };
  if (read.number === given) return { record };
  putAt(json, section.phone, read.number);
  return { record: { ...record, ...serialise(json) } };
}
