import { organisationKey } from '../../../shared/auth/authorise.ts';
import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { type JsonObject, parseObject } from '../../../shared/json/jsonObject.ts';
import { defaultScopeWrite, readLoginNameScopes } from '../../../shared/organisation/loginNameScope.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { defaultComplexity, type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import { formatIssue, type RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import {
  domainPolicySection,
  passwordPolicySection,
  policyKey,
} from '../../../shared/organisation/sections/policies.ts';
import { organisationSection } from '../../../shared/organisation/sections.ts';
import { type DocumentStore, WriteConflictError } from '../../../shared/store/store.ts';
import { inTurns, yieldToEventLoop } from '../../../shared/turns.ts';
import type { DecidedPlan, Outcome, PlacedPlan } from '../outcome.ts';
import type { ImportReport } from '../results/report.ts';
import type { BatchContext } from './batchContext.ts';
import { GuardedStore, ReferenceChangedError } from './guardedStore.ts';
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
const ID_MISSING = { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument' };
/** The error of an organisation that does not exist and has no name to create it with. */
const NAME_MISSING = { id: 'COMM-deLSk', key: 'Errors.Org.Invalid' };
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
): Promise<Targets> {
  const { store, signal } = context;
  const candidates = organisations.map(toCandidate);
  const existing = new Set<Candidate>();
  const uncreatable = candidates.filter(({ issue }) => issue !== undefined);
  for await (const [candidate, isStored] of lookUp(store, uncreatable, signal)) {
    if (isStored) existing.add(candidate);
    reportUncreatable(candidate, isStored, report);
  }
  const failed: Candidate[] = [];
  const settled = ({ plan: { organisation, record }, outcome }: DecidedPlan) => {
    const candidate = candidates[organisation];
    if (candidate !== undefined && existsAfter(outcome)) existing.add(candidate);
    else if (candidate !== undefined) failed.push(candidate);
    report.add(organisation, record, outcome);
  };
  await using writer = new RecordWriter(context, settled);
  for (let start = 0; start < candidates.length && !signal.aborted; start += READ_BATCH) {
    await writer.add(candidates.slice(start, start + READ_BATCH).flatMap(toPlacedPlan));
    await yieldToEventLoop();
  }
  await writer.finish();
  signal.throwIfAborted();
  // An organisation that cannot take its new name still exists.
  for await (const [candidate, isStored] of lookUp(store, failed, signal)) if (isStored) existing.add(candidate);
  const inOrder = candidates.filter((candidate) => existing.has(candidate));
  const targets = await loadTargets(context, inOrder, report);
  await context.watch.expect(inOrder.map(({ header }) => header.orgId));
  return new Map(
    entries.flatMap((organisation, entry) => {
      const target = organisation === undefined ? undefined : targets.get(organisation);
      return target === undefined ? [] : [[entry, target]];
    }),
  );
}

/** An organisation of the file, with the record that creates it or the issue that prevents that. */
interface Candidate {
  readonly organisation: number;
  readonly header: OrganisationHeader;
  readonly record: OrganisationRecord | undefined;
  readonly issue: RecordIssue | undefined;
}

function toCandidate(header: OrganisationHeader, organisation: number): Candidate {
  const { orgId, record } = header;
  const issue = record === undefined ? NAME_MISSING : orgId === '' ? ID_MISSING : undefined;
  const normalised = record === undefined || issue !== undefined ? { record, issue } : normaliseRecord(record);
  return { organisation, header, record: normalised.record, issue: normalised.issue };
}

function toPlacedPlan({ organisation, record, issue }: Candidate): PlacedPlan[] {
  if (record === undefined || issue !== undefined) return [];
  return [{ organisation, ...planRecord(record, false) }];
}

function existsAfter(outcome: Outcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/** Reports an organisation that cannot be created: one that exists is an error only if the file would change it. */
function reportUncreatable({ header, issue }: Candidate, isStored: boolean, report: ImportReport): void {
  const { orgId, record } = header;
  const keepsName = isStored && record === undefined;
  report.count(keepsName ? 'unchanged' : 'failed', organisationSection.name);
  if (keepsName) return;
  const message = formatIssue(isStored ? organisationSection.error.exists : (issue ?? NAME_MISSING));
  report.addError({ type: 'org', ...(orgId === '' ? {} : { id: orgId }), message });
}

/** Looks up which organisations are stored. */
async function* lookUp(
  store: DocumentStore,
  candidates: readonly Candidate[],
  signal: AbortSignal,
): AsyncGenerator<readonly [candidate: Candidate, isStored: boolean]> {
  for await (const batch of inTurns(candidates, READ_BATCH, signal)) {
    const keys = batch.map(({ header }) => organisationKey(header.orgId));
    const documents = await store.getMany(keys, ['orgId']);
    for (const [index, candidate] of batch.entries()) yield [candidate, documents[index] !== undefined];
  }
}

/** Loads the policies for the organisations' clear passwords and domains: the file's, else the stored ones. */
async function loadTargets(
  { store, signal, loginNamesByDefault }: BatchContext,
  existing: readonly Candidate[],
  report: ImportReport,
): Promise<ReadonlyMap<number, TargetOrganisation>> {
  const targets = new Map<number, TargetOrganisation>();
  for await (const batch of inTurns(existing, READ_BATCH, signal)) {
    const orgIds = batch.map(({ header }) => header.orgId);
    const [complexities, domainPolicies] = await Promise.all([
      readPolicies(store, orgIds, passwordPolicySection),
      readPolicies(store, orgIds, domainPolicySection),
    ]);
    for (const [index, { organisation, header }] of batch.entries()) {
      const complexity = complexities[index];
      const passwordComplexity =
        header.passwordComplexity ?? (complexity ? parseComplexity(complexity) : defaultComplexity);
      const validatesDomains = header.validatesDomains ?? domainPolicies[index]?.validateOrgDomains === true;
      targets.set(organisation, {
        organisation,
        header,
        loginNamesByDomain: loginNamesByDefault,
        passwordComplexity,
        validatesDomains,
      });
      report.addOrganisation(organisation, header.orgId);
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

const SCOPE_BATCH = 250;

/**
 * Settles the scope of the login names that an import is about to claim: after the domain policies are written, and
 * before the users. From then on no import can change the scope.
 * @throws the signal's reason
 */
export async function settleLoginNames(context: BatchContext, targets: Targets): Promise<void> {
  const open = [...new Set(targets.values())].filter(({ header }) => header.hasLoginNames);
  for await (const batch of inTurns(open, SCOPE_BATCH, context.signal)) {
    const orgIds = batch.map(({ header }) => header.orgId);
    const scopes = await settleScopes(context, orgIds);
    for (const [index, target] of batch.entries())
      target.loginNamesByDomain = scopes[index] ?? context.loginNamesByDefault;
  }
}

/** Settles the scopes that are open on the instance's default, and returns all of them. */
async function settleScopes(
  { store, watch, loginNamesByDefault }: BatchContext,
  orgIds: readonly string[],
): Promise<(boolean | undefined)[]> {
  for (;;) {
    const guarded = new GuardedStore(store, watch);
    const scopes = await readLoginNameScopes(guarded, orgIds, loginNamesByDefault);
    const open = orgIds.filter((_orgId, index) => scopes[index] === undefined);
    if (open.length === 0) return scopes;
    try {
      await guarded.commit(open.map(defaultScopeWrite));
    } catch (error) {
      // Another import has settled one of them meanwhile, or an organisation was removed: read again.
      if (!(error instanceof WriteConflictError || error instanceof ReferenceChangedError)) throw error;
    }
  }
}
