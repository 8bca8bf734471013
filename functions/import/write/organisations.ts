import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { defaultComplexity, type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import type { Governed } from '../../../shared/organisation/section.ts';
import { organisationSection, policyKey } from '../../../shared/organisation/sections.ts';
import { type DocumentKey, type DocumentStore, documentId } from '../../../shared/store/store.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import { formatIssue, type ImportReport } from '../progress/report.ts';
import type { BatchContext, Outcome, PlacedPlan } from './batchContext.ts';
import { RecordWriter } from './recordWriter.ts';

/** An existing organisation, and the policies for its imported records. */
interface TargetOrganisation {
  readonly header: OrganisationHeader;
  readonly loginNamesByDomain: boolean;
  readonly passwordComplexity: PasswordComplexity;
}

/** The organisations whose records can be written, by their position in the file. */
export type Targets = ReadonlyMap<number, TargetOrganisation>;

/** The error of an organisation without an id. */
export const ID_MISSING = { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument' };
/** The error of an organisation that does not exist and has no name to create it with. */
export const NAME_MISSING = { id: 'COMM-deLSk', key: 'Errors.Org.Invalid' };
const READ_BATCH = 500;

/**
 * Writes the organisations before any of their records, and returns those that exist afterwards. An organisation that
 * exists with another name is an error, but its records are imported. An organisation that cannot be created is an
 * error, and its records are skipped (zitadel 5.5).
 */
export async function writeOrganisations(
  context: BatchContext,
  organisations: readonly OrganisationHeader[],
  report: ImportReport,
  signal: AbortSignal,
): Promise<Targets> {
  const existing = new Set<number>(await findExisting(context.store, organisations, report, signal));
  const settled = ({ organisation, plan }: PlacedPlan, outcome: Outcome) => {
    if (existsAfter(outcome)) existing.add(organisation);
    report.add(organisation, plan.record, outcome);
  };
  await using writer = new RecordWriter(context, { settled }, signal);
  for (const batch of inBatches(organisations)) {
    await writer.add(batch.flatMap(toPlacedPlan));
    await setImmediate();
    if (signal.aborted) break;
  }
  await writer.finish();
  signal.throwIfAborted();
  const inOrder = [...existing].sort((a, b) => a - b);
  return loadTargets(context.store, organisations, inOrder, report, signal);
}

/** Splits organisations into batches, each with its organisations' positions in the file. */
function* inBatches(
  organisations: readonly OrganisationHeader[],
): Generator<(readonly [number, OrganisationHeader])[]> {
  for (let start = 0; start < organisations.length; start += READ_BATCH) {
    yield organisations.slice(start, start + READ_BATCH).map((header, index) => [start + index, header] as const);
  }
}

function toPlacedPlan([organisation, { orgId, record }]: readonly [number, OrganisationHeader]): PlacedPlan[] {
  return orgId === '' || record === undefined
    ? []
    : [{ organisation, ordinal: organisation, plan: planRecord(record, false) }];
}

function existsAfter(outcome: Outcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/** Finds the organisations that exist among those without an id or a record, and reports the others. */
async function findExisting(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  report: ImportReport,
  signal: AbortSignal,
): Promise<number[]> {
  const found: number[] = [];
  const uncreatable = [...organisations.entries()].filter(
    ([, { orgId, record }]) => orgId === '' || record === undefined,
  );
  for (let start = 0; start < uncreatable.length; start += READ_BATCH) {
    await yieldUnlessAborted(signal);
    const batch = uncreatable.slice(start, start + READ_BATCH);
    const documents = await store.getMany(
      batch.map(([, { orgId }]) => organisationKey(orgId)),
      ['orgId'],
    );
    batch.forEach(([index, header], position) => {
      if (documents[position] !== undefined) found.push(index);
      else reportMissing(header, report);
    });
  }
  return found;
}

/**
 * Yields to the event loop, which the embedded database blocks otherwise.
 * @throws the signal's reason
 */
async function yieldUnlessAborted(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}

/** Reports an organisation that does not exist and cannot be created, because it has no name or no id. */
function reportMissing({ orgId, record }: OrganisationHeader, report: ImportReport): void {
  const message = formatIssue(record === undefined ? NAME_MISSING : ID_MISSING);
  report.addError({ type: 'org', ...(orgId === '' ? {} : { id: orgId }), message });
  report.count('failed', organisationSection.name);
}

function organisationKey(orgId: string): DocumentKey {
  return { collection: organisationSection.collection, id: documentId(orgId) };
}

/**
 * Loads the policies for the organisations' records. The password policy is the file's, else the stored one. The domain
 * policy is the stored one, which a differing one in the file does not replace, else the file's.
 */
async function loadTargets(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  indexes: readonly number[],
  report: ImportReport,
  signal: AbortSignal,
): Promise<Targets> {
  const targets = new Map<number, TargetOrganisation>();
  for (let start = 0; start < indexes.length; start += READ_BATCH) {
    await yieldUnlessAborted(signal);
    const batch = indexes.slice(start, start + READ_BATCH).flatMap((index) => {
      const header = organisations[index];
      return header === undefined ? [] : [{ index, header }];
    });
    const orgIds = batch.map(({ header }) => header.orgId);
    const domain = await storedPolicies(store, orgIds, 'loginNames');
    const complexity = await storedPolicies(store, orgIds, 'passwords');
    for (const [position, { index, header }] of batch.entries()) {
      targets.set(index, toTarget(header, domain[position], complexity[position]));
      report.addOrganisation(index, header);
    }
  }
  return targets;
}

function toTarget(
  header: OrganisationHeader,
  domain: JsonObject | undefined,
  complexity: JsonObject | undefined,
): TargetOrganisation {
  const stored = complexity === undefined ? defaultComplexity : parseComplexity(complexity);
  const storedByDomain = domain === undefined ? undefined : domain.userLoginMustBeDomain === true;
  return {
    header,
    loginNamesByDomain: storedByDomain ?? header.loginNamesByDomain ?? false,
    passwordComplexity: header.passwordComplexity ?? stored,
  };
}

async function storedPolicies(
  store: DocumentStore,
  orgIds: readonly string[],
  governed: Governed,
): Promise<(JsonObject | undefined)[]> {
  const keys = orgIds.map((orgId) => policyKey(orgId, governed));
  const documents = await store.getMany(keys, ['body']);
  return documents.map((document) => {
    const policy: unknown = JSON.parse(document?.body ?? 'null');
    return isJsonObject(policy) ? policy : undefined;
  });
}
