import { setImmediate } from 'node:timers/promises';
import { complexityFault, type PasswordComplexity } from '../../shared/auth/passwordComplexity.ts';
import { type OrganisationRecord, readRecord } from '../../shared/contract/record.ts';
import { planRecord } from '../../shared/contract/recordPlan.ts';
import type { RecordFault, Section } from '../../shared/contract/section.ts';
import { organisationSection, sections } from '../../shared/contract/sections.ts';
import { deadlineExceeded } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { parseJson } from '../../shared/json/jsonScanner.ts';
import type { Store } from '../../shared/store/store.ts';
import { type DocumentItem, DocumentReader } from './documentReader.ts';
import { ImportReport } from './importReport.ts';
import { type DocumentSource, type Inspection, inspect, sectionOf } from './inspection.ts';
import { loginPolicyWith } from './loginPolicyV1.ts';
import { type Targets, writeOrganisations } from './organisations.ts';
import type { BatchContext } from './recordBatch.ts';
import { type PlacedPlan, RecordWriter } from './recordWriter.ts';

/** What the import is asked for beside its document. */
export interface ImportOptions {
  /** Whether machine and application keys are taken as well. */
  readonly withKeys: boolean;
}

/**
 * Imports organisations (interface 4.3): reads and checks the whole document, writes the organisations, then their
 * records phase by phase. Can be sent again after any interruption: what is there already counts as unchanged.
 * @param stamp the creation date of what is created, different from that of any other import; ISO 8601, UTC
 * @param signal ends the work between two batches, with its reason
 * @returns the import response
 * @throws IdentityError INVALID_ARGUMENT for a document that is not as the contract says, before anything is written;
 * DEADLINE_EXCEEDED with the number of records that are in
 */
export async function importOrganisations(
  store: Store,
  source: DocumentSource,
  options: ImportOptions,
  stamp: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const inspection = await inspect(source, signal);
  const context: BatchContext = { store, stamp, batches: 0, expectExisting: false };
  const report = new ImportReport();
  try {
    const targets = await writeOrganisations(context, inspection.organisations, report);
    for (const phase of [1, 2, 3] as const) {
      const wanted = sectionsOf(phase, inspection, options);
      if (wanted.size > 0) await writePhase(context, source, wanted, targets, report, signal);
    }
  } catch (error) {
    throw withProgress(error, report, inspection);
  }
  countLeftOut(inspection, options, report);
  return report.toJson(inspection.proved);
}

/** The sections of a phase of which the document holds any record that is carried. */
function sectionsOf(phase: Section['phase'], { counts }: Inspection, { withKeys }: ImportOptions): Set<Section> {
  return new Set(
    sections.filter(
      (section) => section.phase === phase && (counts[section.name] ?? 0) > 0 && isCarried(section, withKeys),
    ),
  );
}

function isCarried(section: Section, withKeys: boolean): boolean {
  return section.keys !== true || withKeys;
}

async function writePhase(
  context: BatchContext,
  source: DocumentSource,
  wanted: ReadonlySet<Section>,
  targets: Targets,
  report: ImportReport,
  signal: AbortSignal,
): Promise<void> {
  const reader = new DocumentReader((name) => {
    const section = sectionOf(name);
    return section !== undefined && wanted.has(section);
  });
  const writer = new RecordWriter(context, ({ organisation, plan }, outcome) => {
    report.add(organisation, plan.record, outcome);
  });
  for await (const chunk of source.open(signal)) {
    await writer.add(reader.push(chunk).flatMap((item) => placedPlan(item, targets, report)));
    // The embedded database answers at once: without this nothing else gets its turn, a time-out included.
    await setImmediate();
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
}

function placedPlan(item: DocumentItem, targets: Targets, report: ImportReport): PlacedPlan[] {
  const section = sectionOf(item.name);
  if (section === undefined || item.organisation === undefined) return [];
  const target = targets.get(item.organisation);
  if (target === undefined) {
    report.count('failed', section.name);
    return [];
  }
  const { header, loginNamesByDomain, passwordComplexity } = target;
  const value = parseJson(item.text, item.path);
  const whole = section.name === 'loginPolicy' ? loginPolicyWith(value, header.loginPolicyAdditions) : value;
  const record = readRecord(section, whole, header.orgId);
  const fault = faultOf(record, passwordComplexity);
  if (fault !== undefined) {
    report.add(item.organisation, record, { kind: 'failed', fault });
    return [];
  }
  return [{ organisation: item.organisation, plan: planRecord(record, loginNamesByDomain) }];
}

/** What is wrong with a record whatever else there is: by its section's check, or a password that is too weak. */
function faultOf(
  { section, json, clearPassword }: OrganisationRecord,
  policy: PasswordComplexity,
): RecordFault | undefined {
  const fault = section.check?.(json);
  return fault ?? (clearPassword === undefined ? undefined : complexityFault(policy, clearPassword));
}

function countLeftOut({ counts }: Inspection, { withKeys }: ImportOptions, report: ImportReport): void {
  for (const section of sections) {
    if (isCarried(section, withKeys)) continue;
    report.count('notCarried', section.name, counts[section.name] ?? 0);
  }
}

/** An import that ran out of time says how far it came, and that sending it again goes on from there. */
function withProgress(error: unknown, report: ImportReport, { counts, organisations }: Inspection): unknown {
  if (!(error instanceof IdentityError) || error.code !== 'DEADLINE_EXCEEDED') return error;
  const total = { [organisationSection.name]: organisations.length, ...counts };
  return deadlineExceeded([
    { '@type': 'type.googleapis.com/identity.v1.ImportProgress', written: report.written, total, resumable: true },
  ]);
}
