// The first phase of an import: the organisations, into which later phases write records.

import { organisationKey } from '../../shared/auth/authorise.ts';
import { because } from '../../shared/errors/recordIssues.ts';
import type { Manifest } from '../../shared/exportFile/manifest.ts';
import type { OrganisationHeader } from '../../shared/exportFile/organisationDraft.ts';
import { TOO_LONG_ID } from '../../shared/organisation/lengthLimits.ts';
import { normaliseRecord } from '../../shared/organisation/normaliseRecord.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { planRecord, type RecordPlan } from '../../shared/organisation/recordPlan.ts';
import { type RecordIssue, reportedIssue } from '../../shared/organisation/relations.ts';
import { organisationSection, organisationUnnamed } from '../../shared/organisation/sections.ts';
import { isLongId, MAX_ID_CHARACTERS } from '../../shared/organisation/valueRules.ts';
import { type DocumentStore, READ_BATCH } from '../../shared/store/store.ts';
import { inTurns, yieldToEventLoop } from '../../shared/turns.ts';
import { RecordWriter } from './commit/recordWriter.ts';
import type { ImportContext } from './context.ts';
import { loadTargets, type Targets } from './plan/targets.ts';
import type { ImportReport } from './results/report.ts';
import type { RecordOutcome, Settled } from './stages.ts';

/** The error of an organisation without an id. */
const ID_MISSING: RecordIssue = {
  id: 'ORG-4Mlfs',
  key: 'Errors.Invalid.Argument',
  ...because('value_missing', { field: '`orgId` of an organisation' }),
};

/**
 * Writes the organisations before any of their records, and returns those that exist afterwards. An organisation that
 * exists with another name, or cannot take its new one, is an error, but its records are imported. An organisation that
 * cannot be created is an error, and its records are skipped (zitadel 5.5).
 */
export async function writeOrganisations(context: ImportContext): Promise<Targets> {
  const { store, signal, report, inspection } = context;
  const organisations = await withPolicyIssues(context, inspection.organisations.map(toFileOrganisation));
  const existing = new Set<string>();
  const uncreatable = organisations.filter(({ issue }) => issue !== undefined);
  for await (const [organisation, isStored] of lookUp(store, uncreatable, signal)) {
    if (isStored) existing.add(organisation.header.orgId);
    reportUncreatable(organisation, isStored, report);
  }
  const failed = new Set<string>();
  const onSettled = ({ plan: { record }, outcome }: Settled) => {
    (existsAfter(outcome) ? existing : failed).add(record.orgId);
    report.add(record, outcome);
  };
  await using writer = new RecordWriter(context, onSettled);
  for (let start = 0; start < organisations.length && !signal.aborted; start += READ_BATCH) {
    const batch = organisations.slice(start, start + READ_BATCH);
    await writer.add(batch.flatMap((organisation) => toPlan(organisation, inspection.manifest)));
    await yieldToEventLoop();
  }
  await writer.finish();
  signal.throwIfAborted();
  // An organisation that cannot take its new name still exists.
  const kept = organisations.filter(({ header }) => failed.has(header.orgId));
  for await (const [{ header }, isStored] of lookUp(store, kept, signal)) if (isStored) existing.add(header.orgId);
  const headers = inspection.organisations.filter(({ orgId }) => existing.has(orgId));
  const targets = await loadTargets(context, headers);
  for (const orgId of targets.keys()) report.addOrganisation(orgId);
  return new Map(
    inspection.entries.flatMap((position, entry) => {
      const header = position === undefined ? undefined : inspection.organisations[position];
      const target = header && targets.get(header.orgId);
      return target === undefined ? [] : [[entry, target]];
    }),
  );
}

/** The error of an organisation whose id the keys of its records have no room for. */
const ID_TOO_LONG: RecordIssue = {
  id: TOO_LONG_ID,
  key: `orgId: value length must be at most ${MAX_ID_CHARACTERS} characters`,
  ...because('value_too_long', { field: 'orgId', limit: `${MAX_ID_CHARACTERS} characters` }),
};

/** An organisation of the file, with the record that creates it or the issue that prevents that. */
interface FileOrganisation {
  readonly header: OrganisationHeader;
  readonly record: OrganisationRecord | undefined;
  readonly issue: RecordIssue | undefined;
}

function toFileOrganisation(header: OrganisationHeader): FileOrganisation {
  const { orgId, record } = header;
  if (record === undefined) return { header, record, issue: organisationUnnamed };
  if (orgId === '') return { header, record, issue: ID_MISSING };
  if (record.invalid !== undefined) return { header, record, issue: record.invalid };
  if (isLongId(orgId)) return { header, record, issue: ID_TOO_LONG };
  return { header, issue: undefined, ...normaliseRecord(record) };
}

/**
 * Refuses the new organisations whose domain policy is invalid: names that their users claim without it would settle a scope
 * that no corrected file can change.
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

/** Plans an organisation, which remembers the instance that exported it. */
function toPlan({ record, issue }: FileOrganisation, { instanceId }: Pick<Manifest, 'instanceId'> = {}): RecordPlan[] {
  if (record === undefined || issue !== undefined) return [];
  const plan = planRecord(record, false);
  return [instanceId === undefined ? plan : { ...plan, origin: { importedFrom: instanceId } }];
}

function existsAfter(outcome: RecordOutcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/** Reports an organisation that cannot be created: one that exists is an error only if the file would change it. */
function reportUncreatable({ header, issue }: FileOrganisation, isStored: boolean, report: ImportReport): void {
  const { orgId, record } = header;
  const keepsName = isStored && record === undefined;
  report.count(keepsName ? 'unchanged' : 'failed', organisationSection.name);
  if (keepsName) return;
  const reported = record?.invalid ?? (isStored ? organisationSection.error.exists : (issue ?? organisationUnnamed));
  const subject = { type: 'org', ...(orgId === '' ? {} : { id: orgId }) };
  report.addError({ ...subject, ...reportedIssue(reported) });
}

/** Looks up which organisations are stored. */
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
