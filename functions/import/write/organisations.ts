import { organisationKey } from '../../../shared/auth/authorise.ts';
import { type JsonObject, parseObject } from '../../../shared/json/jsonObject.ts';
import { defaultComplexity, type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import {
  domainPolicySection,
  passwordPolicySection,
  policyKey,
} from '../../../shared/organisation/sections/policies.ts';
import { organisationSection } from '../../../shared/organisation/sections.ts';
import { settleRecord } from '../../../shared/organisation/settleRecord.ts';
import type { DocumentStore } from '../../../shared/store/store.ts';
import { inTurns, yieldToEventLoop } from '../../../shared/turns.ts';
import type { Inspection } from '../inspect/inspection.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import type { Outcome, PlacedPlan } from '../outcome.ts';
import { formatIssue, type ImportReport } from '../results/report.ts';
import type { BatchContext } from './batchContext.ts';
import { RecordWriter } from './recordWriter.ts';

/** An existing organisation, and the policies for its imported records. */
export interface TargetOrganisation {
  /** The organisation's position among the file's organisations. */
  readonly organisation: number;
  readonly header: OrganisationHeader;
  /** Whether login names carry the organisation's domain; settled before the first of them is claimed. */
  loginNamesByDomain: boolean;
  readonly passwordComplexity: PasswordComplexity;
  readonly validatesDomains: boolean;
}

/** The organisations whose records can be written, by the positions of their entries in the file. */
export type Targets = ReadonlyMap<number, TargetOrganisation>;

/** The error of an organisation without an id. */
export const ID_MISSING = { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument' };
/** The error of an organisation that does not exist and has no name to create it with. */
export const NAME_MISSING = { id: 'COMM-deLSk', key: 'Errors.Org.Invalid' };
const READ_BATCH = 500;

/**
 * Writes the organisations before any of their records, and returns those that exist afterwards. An organisation that
 * exists with another name, or cannot take its new one, is an error, but its records are imported. An organisation that
 * cannot be created is an error, and its records are skipped (zitadel 5.5).
 */
export async function writeOrganisations(
  context: BatchContext,
  { organisations, entries }: Pick<Inspection, 'organisations' | 'entries'>,
  report: ImportReport,
  signal: AbortSignal,
): Promise<Targets> {
  const candidates = organisations.map(settleOrganisation);
  const existing = new Set<number>(await findExisting(context.store, organisations, candidates, report, signal));
  const failed: number[] = [];
  const settled = ({ organisation, plan }: PlacedPlan, outcome: Outcome) => {
    if (existsAfter(outcome)) existing.add(organisation);
    else failed.push(organisation);
    report.add(organisation, plan.record, outcome);
  };
  await using writer = new RecordWriter(context, settled, signal);
  for (const batch of inBatches(candidates)) {
    await writer.add(batch.flatMap(toPlacedPlan));
    await yieldToEventLoop();
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
  // An organisation that cannot take its new name still exists.
  for await (const [index, isStored] of lookUp(context.store, organisations, failed, signal))
    if (isStored) existing.add(index);
  const inOrder = [...existing].sort((a, b) => a - b);
  const targets = await loadTargets(context.store, organisations, inOrder, report, signal);
  await context.watch.expect([...targets.values()].map(({ header }) => header.orgId));
  return new Map(
    entries.flatMap((organisation, entry) => {
      const target = organisation === undefined ? undefined : targets.get(organisation);
      return target === undefined ? [] : [[entry, target]];
    }),
  );
}

/** Splits organisations into batches, each with its organisations' positions in the file. */
function* inBatches(settled: readonly Settled[]): Generator<(readonly [number, Settled])[]> {
  for (let start = 0; start < settled.length; start += READ_BATCH)
    yield settled.slice(start, start + READ_BATCH).map((one, index) => [start + index, one] as const);
}

function toPlacedPlan([organisation, { record }]: readonly [number, Settled]): PlacedPlan[] {
  return record === undefined ? [] : [{ organisation, ordinal: organisation, plan: planRecord(record, false) }];
}

/** The record of an organisation that can be created, or the issue of one that cannot. */
type Settled =
  | { readonly record: OrganisationRecord; readonly issue?: never }
  | { readonly record?: never; readonly issue: RecordIssue };

function settleOrganisation({ orgId, record }: OrganisationHeader): Settled {
  if (record === undefined) return { issue: NAME_MISSING };
  if (orgId === '') return { issue: ID_MISSING };
  const settled = settleRecord(record);
  return settled.issue === undefined ? { record: settled.record } : { issue: settled.issue };
}

function existsAfter(outcome: Outcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/** Finds the organisations that exist among those that cannot be created, and reports the others. */
async function findExisting(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  settled: readonly Settled[],
  report: ImportReport,
  signal: AbortSignal,
): Promise<number[]> {
  const found: number[] = [];
  const uncreatable = [...settled.entries()].flatMap(([index, { issue }]) => (issue === undefined ? [] : [index]));
  for await (const [index, isStored, header] of lookUp(store, organisations, uncreatable, signal)) {
    if (!isStored) {
      reportFailed(header, settled[index]?.issue ?? NAME_MISSING, report);
      continue;
    }
    found.push(index);
    if (header.record === undefined) report.count('unchanged', organisationSection.name);
    else reportFailed(header, organisationSection.error.exists, report);
  }
  return found;
}

/** Looks up which of some organisations of the file are stored. */
async function* lookUp(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  indexes: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<readonly [index: number, isStored: boolean, header: OrganisationHeader]> {
  for await (const batch of pickBatches(organisations, indexes, signal)) {
    const keys = batch.map(([, { orgId }]) => organisationKey(orgId));
    const documents = await store.getMany(keys, ['orgId']);
    for (const [position, [index, header]] of batch.entries()) yield [index, documents[position] !== undefined, header];
  }
}

/**
 * Yields some organisations of the file in batches.
 * @throws the signal's reason
 */
async function* pickBatches(
  organisations: readonly OrganisationHeader[],
  indexes: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<(readonly [number, OrganisationHeader])[]> {
  for await (const batch of inTurns(indexes, READ_BATCH, signal)) {
    yield batch.flatMap((index) => {
      const header = organisations[index];
      return header === undefined ? [] : [[index, header] as const];
    });
  }
}

/** Reports an organisation that cannot be created, or changed. */
function reportFailed({ orgId }: OrganisationHeader, issue: RecordIssue, report: ImportReport): void {
  const message = formatIssue(issue);
  report.addError({ type: 'org', ...(orgId === '' ? {} : { id: orgId }), message });
  report.count('failed', organisationSection.name);
}

/** Loads the policies for the organisations' clear passwords and domains: the file's, else the stored ones. */
async function loadTargets(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  indexes: readonly number[],
  report: ImportReport,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, TargetOrganisation>> {
  const targets = new Map<number, TargetOrganisation>();
  for await (const batch of pickBatches(organisations, indexes, signal)) {
    const orgIds = batch.map(([, { orgId }]) => orgId);
    const [complexities, domainPolicies] = await Promise.all([
      readPolicies(store, orgIds, passwordPolicySection),
      readPolicies(store, orgIds, domainPolicySection),
    ]);
    for (const [position, [index, header]] of batch.entries()) {
      const [complexity, domainPolicy] = [complexities[position], domainPolicies[position]];
      const passwordComplexity =
        header.passwordComplexity ?? (complexity ? parseComplexity(complexity) : defaultComplexity);
      const validatesDomains = header.validatesDomains ?? domainPolicy?.validateOrgDomains === true;
      const target = { organisation: index, header, loginNamesByDomain: false, passwordComplexity, validatesDomains };
      targets.set(index, target);
      report.addOrganisation(index, header);
    }
  }
  return targets;
}

/** Reads the policies of a section that the organisations have stored. */
async function readPolicies(
  store: DocumentStore,
  orgIds: readonly string[],
  section: Section,
): Promise<(JsonObject | undefined)[]> {
  const keys = orgIds.map((orgId) => policyKey(orgId, section));
  const documents = await store.getMany(keys, ['body']);
  return documents.map((document) => (document === undefined ? undefined : parseObject(document.body)));
}
