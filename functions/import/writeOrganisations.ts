import { withoutEmpty } from '../../shared/defined.ts';
import { organisationSection, organisationUnnamed } from '../../shared/organisation/allSections.ts';
import { reportedIssue } from '../../shared/organisation/relations.ts';
import { organisationKey } from '../../shared/store/documentKeys.ts';
import { type DocumentStore, READ_BATCH } from '../../shared/store/store.ts';
import { inTurns, yieldToEventLoop } from '../../shared/turns.ts';
import { RecordWriter } from './commit/recordWriter.ts';
import type { ImportContext } from './context.ts';
import { rememberImport } from './mirror/lastImport.ts';
import { type FileOrganisation, planOrganisation, toFileOrganisation } from './plan/organisations.ts';
import { loadTargets, type Targets } from './plan/targets.ts';
import type { ImportReport } from './results/report.ts';
import type { RecordOutcome, Settled } from './stages.ts';

/**
 * Writes the organisations, and returns all organisations of the file that exist afterwards. Later phases import the
 * records of these organisations. If an organisation exists with another name, or if its new name is taken, the import
 * reports an error but imports the organisation's records. If the organisation cannot be created, the import reports an
 * error and skips the organisation's records (see zitadel 5.5).
 */
export async function writeOrganisations(context: ImportContext): Promise<Targets> {
  const { store, signal, inspection } = context;
  const { report } = context.state;
  const organisations = await withPolicyIssues(context, inspection.organisations.map(toFileOrganisation));
  const existing = new Set<string>();
  const uncreatable = organisations.filter(({ issue }) => issue !== undefined);
  for await (const [organisation, isStored] of lookUp(store, uncreatable, signal)) {
    if (isStored) existing.add(organisation.header.orgId);
    reportUncreatable(organisation, isStored, report);
  }
  const failed = new Set<string>();
  const created = new Set<string>();
  const onSettled = ({ plan: { record }, outcome }: Settled) => {
    (existsAfter(outcome) ? existing : failed).add(record.orgId);
    if (outcome.kind === 'created') created.add(record.orgId);
    report.add(record, outcome);
  };
  await using writer = new RecordWriter(context, onSettled);
  for (let start = 0; start < organisations.length && !signal.aborted; start += READ_BATCH) {
    const batch = organisations.slice(start, start + READ_BATCH);
    await writer.add(batch.flatMap((organisation) => planOrganisation(organisation, inspection.manifest)));
    await yieldToEventLoop();
  }
  await writer.finish();
  signal.throwIfAborted();
  // The rename of an organisation fails if another organisation has the new name. The organisation still exists, under
  // its old name.
  const kept = organisations.filter(({ header }) => failed.has(header.orgId));
  for await (const [{ header }, isStored] of lookUp(store, kept, signal)) if (isStored) existing.add(header.orgId);
  await rememberImport(context, [...existing.difference(created)]);
  const targets = await loadTargets(context, existing, created);
  for (const { header } of targets.values()) report.addOrganisation(header.orgId);
  return targets;
}

/**
 * Rejects a new organisation if it has users and its domain policy is invalid. Without the policy, the import would
 * form its users' login names by the default rule, and a later import of a corrected file could not change them.
 */
async function withPolicyIssues(
  { store, signal }: ImportContext,
  organisations: readonly FileOrganisation[],
): Promise<readonly FileOrganisation[]> {
  const doubtful = organisations.filter(
    ({ header, issue }) => issue === undefined && header.domainPolicyIssue !== undefined && header.hasLoginNames,
  );
  const refused = new Set<FileOrganisation>();
  for await (const [organisation, isStored] of lookUp(store, doubtful, signal))
    if (!isStored) refused.add(organisation);
  return organisations.map((organisation) =>
    refused.has(organisation) ? { ...organisation, issue: organisation.header.domainPolicyIssue } : organisation,
  );
}

function existsAfter(outcome: RecordOutcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/**
 * Reports an organisation that the import cannot create. If the organisation exists and the file only lacks its name,
 * counts it as unchanged.
 */
function reportUncreatable({ header, issue }: FileOrganisation, isStored: boolean, report: ImportReport): void {
  const { orgId, record } = header;
  const keepsName = isStored && record === undefined;
  report.count(keepsName ? 'unchanged' : 'failed', organisationSection.name);
  if (keepsName) return;
  const reported = record?.invalid ?? (isStored ? organisationSection.error.exists : (issue ?? organisationUnnamed));
  const subject = { type: 'org', ...withoutEmpty({ id: orgId }) };
  report.addError({ ...subject, ...reportedIssue(reported) });
}

async function* lookUp(
  store: DocumentStore,
  organisations: readonly FileOrganisation[],
  signal: AbortSignal,
): AsyncGenerator<readonly [organisation: FileOrganisation, isStored: boolean]> {
  for await (const batch of inTurns(organisations, READ_BATCH, signal)) {
    const keys = batch.map(({ header }) => organisationKey(header.orgId));
    const documents = await store.getMany(keys, ['orgId']);
    for (const [index, organisation] of batch.entries()) yield [organisation, documents[index] !== undefined];
  }
}
