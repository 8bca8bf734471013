import { increase } from '../../../shared/collections/counts.ts';
import { zitadelPositionMismatch } from '../../../shared/errors/zitadelErrors.ts';
import type { ZitadelConnection } from '../connection.ts';
import { type ErrorKind, errorKind, type ImportError, isRefusedOrganisation } from './expectedAnswers.ts';
import type { ImportPlan } from './importPlan.ts';
import { groupRecords, type OutgoingRecord } from './importRequest.ts';
import { type AnsweredRequest, ImportSender } from './importSender.ts';
import { type ImportStep, importSteps } from './importSteps.ts';
import { readStep } from './outgoingRecords.ts';

/** How far an import has come. It is JSON, and valid for the same file only. */
export interface ImportPosition {
  /** The file's digest. */
  readonly digest: string;
  /** The index of the step in `importSteps`. */
  readonly step: number;
  /** The number of the step's records that are done. */
  readonly done: number;
  /** The organisations that the ZITADEL refused, whose content is not sent. */
  readonly refused: readonly string[];
}

/** One request of an import, after its answer. */
export interface ImportRequestEvent {
  readonly step: string;
  readonly records: number;
  /** Numbers of these records by section. */
  readonly sections: Readonly<Record<string, number>>;
  readonly milliseconds: number;
  /** The errors of the answer. */
  readonly errors: Readonly<Record<ErrorKind, readonly ImportError[]>>;
  /** Where the import resumes after this request. */
  readonly position: ImportPosition;
}

/** The totals of an import, or of what a resumed one had left. */
export interface ImportTotals {
  requests: number;
  records: number;
  /** The number of records of refused organisations. */
  skipped: number;
  /** The same by section. */
  skippedSections: Record<string, number>;
  errors: Record<ErrorKind, number>;
}

/** The options of an import. */
export interface ImportOptions {
  /** Where to begin; by default at the start. */
  readonly from?: ImportPosition;
  /** Called after each request; the import continues when it is done. */
  readonly onRequest: (event: ImportRequestEvent) => void | Promise<void>;
  /** The time limit of one request; 55 s by default, since gateways cut off after 60 s. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 55_000;

/**
 * Imports an export file into a ZITADEL, in requests that it can take and in an order that it can follow. The file is
 * read once per step; memory holds one request.
 * @throws IdentityError for a ZITADEL that does not respond or denies the call, and for a position in another file
 */
export async function importOrganisations(
  connection: ZitadelConnection,
  plan: ImportPlan,
  { from, onRequest, timeoutMs = TIMEOUT_MS }: ImportOptions,
): Promise<ImportTotals> {
  if (from !== undefined && from.digest !== plan.digest) throw zitadelPositionMismatch();
  const totals: ImportTotals = {
    requests: 0,
    records: 0,
    skipped: 0,
    skippedSections: {},
    errors: { expected: 0, existing: 0, real: 0 },
  };
  const sender = new ImportSender(connection, timeoutMs);
  const run = { connection, plan, onRequest, totals, sender, isResumed: from !== undefined };
  const refused = new Set(from?.refused);
  for (const [index, step] of importSteps.entries()) {
    if (index < (from?.step ?? 0) || !isNeeded(step, plan)) continue;
    await importStep(run, index, step, index === from?.step ? from.done : 0, refused);
  }
  return totals;
}

function isNeeded({ sections, createsOrganisations }: ImportStep, { counts }: ImportPlan): boolean {
  return createsOrganisations === true || sections.some((name) => (counts[name] ?? 0) > 0);
}

/** What the steps of one import share. */
interface ImportRun extends Pick<ImportOptions, 'onRequest'> {
  readonly connection: ZitadelConnection;
  readonly plan: ImportPlan;
  readonly totals: ImportTotals;
  readonly sender: ImportSender;
  /** Whether the first request may have been sent before the interruption. */
  readonly isResumed: boolean;
}

async function importStep(
  run: ImportRun,
  index: number,
  step: ImportStep,
  done: number,
  refused: Set<string>,
): Promise<void> {
  const { connection, plan, onRequest, totals, sender } = run;
  const remaining = async function* (): AsyncGenerator<OutgoingRecord> {
    for await (const record of readStep(plan, step, connection.signal)) {
      if (record.ordinal <= done) continue;
      if (!refused.has(record.orgId)) yield record;
      else {
        totals.skipped++;
        increment(totals.skippedSections, record);
      }
    }
  };
  const areApart = (a: OutgoingRecord, b: OutgoingRecord) => step.inContext === true && a.orgId !== b.orgId;
  const { hostname } = new URL(connection.baseUrl);
  for await (const group of groupRecords(remaining(), () => sender.limits, areApart)) {
    const orgId = step.inContext === true ? group[0]?.orgId : undefined;
    for await (const answered of sender.send(group, orgId, totals.requests === 0 && run.isResumed)) {
      for (const error of answered.errors) if (isRefusedOrganisation(error)) refused.add(error.id ?? '');
      const errors = sortErrors(answered, hostname);
      count(totals, answered, errors);
      const position = { digest: plan.digest, step: index, done: answered.records.at(-1)?.ordinal ?? done };
      await onRequest({
        step: step.name,
        records: answered.records.length,
        sections: countSections(answered.records),
        milliseconds: answered.milliseconds,
        errors,
        position: { ...position, refused: [...refused] },
      });
    }
  }
}

function sortErrors({ errors, records, isRepeat }: AnsweredRequest, host: string): Record<ErrorKind, ImportError[]> {
  const creates = new Set(records.filter(({ json }) => json.org !== undefined).map(({ orgId }) => orgId));
  const facts = { isRepeat, creates, host };
  const sorted: Record<ErrorKind, ImportError[]> = { expected: [], existing: [], real: [] };
  for (const error of errors) sorted[errorKind(error, facts)].push(error);
  return sorted;
}

function count(totals: ImportTotals, { records }: AnsweredRequest, errors: Record<ErrorKind, ImportError[]>): void {
  totals.requests++;
  totals.records += records.length;
  for (const kind of ['expected', 'existing', 'real'] as const) totals.errors[kind] += errors[kind].length;
}

function countSections(records: readonly OutgoingRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of records) increment(counts, record);
  return counts;
}

function increment(counts: Record<string, number>, { sections }: OutgoingRecord): void {
  for (const section of sections) increase(counts, section);
}
