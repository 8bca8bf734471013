import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { defaultComplexity, type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import { planRecord } from '../../../shared/organisation/recordPlan.ts';
import type { Governed } from '../../../shared/organisation/section.ts';
import { organisationSection, policyKey } from '../../../shared/organisation/sections.ts';
import { type DocumentKey, type DocumentStore, documentId } from '../../../shared/store/store.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import { formatIssue, type ImportReport } from '../progress/report.ts';
import type { BatchContext, Outcome } from './batchContext.ts';
import { type PlacedPlan, RecordWriter } from './recordWriter.ts';

/** An organisation whose records can be written. */
interface TargetOrganisation {
  readonly header: OrganisationHeader;
  readonly loginNamesByDomain: boolean;
  readonly passwordComplexity: PasswordComplexity;
}

/** The organisations of the document by their position in it; one that cannot be written to is missing. */
export type Targets = ReadonlyMap<number, TargetOrganisation>;

/** The error of an organisation without an id. */
export const ID_MISSING = { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument' };
/** The error of an organisation that would have to be created, and has no name. */
export const NAME_MISSING = { id: 'COMM-deLSk', key: 'Errors.Org.Invalid' };
const READ_AT_ONCE = 500;

/**
 * Writes the organisations themselves, before any of their records, and tells which of them are there then: created
 * just now, or earlier. One that is there with another name is an error, and its records are imported all the same; one
 * that cannot be created is an error, and its records are left out (zitadel 5.5).
 */
export async function writeOrganisations(
  context: BatchContext,
  organisations: readonly OrganisationHeader[],
  report: ImportReport,
): Promise<Targets> {
  const reached = new Set<number>(await existingOrganisations(context.store, organisations, report));
  const writer = new RecordWriter(context, ({ organisation, plan }, outcome) => {
    if (isThere(outcome)) reached.add(organisation);
    report.add(organisation, plan.record, outcome);
  });
  await writer.add(organisations.flatMap(placed));
  await writer.finish();
  const inOrder = [...reached].sort((one, other) => one - other);
  return loadTargets(context.store, organisations, inOrder, report);
}

function placed({ orgId, record }: OrganisationHeader, organisation: number): PlacedPlan[] {
  return orgId === '' || record === undefined
    ? []
    : [{ organisation, ordinal: organisation, plan: planRecord(record, false) }];
}

function isThere(outcome: Outcome): boolean {
  return outcome.kind !== 'failed' || outcome.issue === organisationSection.error.exists;
}

/** Those that the document names without describing them, and that are there. */
async function existingOrganisations(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  report: ImportReport,
): Promise<number[]> {
  const found: number[] = [];
  const named = [...organisations.entries()].filter(([, { orgId, record }]) => orgId === '' || record === undefined);
  for (let at = 0; at < named.length; at += READ_AT_ONCE) {
    const part = named.slice(at, at + READ_AT_ONCE);
    const documents = await store.getMany(
      part.map(([, { orgId }]) => organisationKey(orgId)),
      ['orgId'],
    );
    part.forEach(([index, header], position) => {
      if (documents[position] !== undefined) found.push(index);
      else reportMissing(header, report);
    });
  }
  return found;
}

/** An organisation that is not there and cannot be created: it has no name, or no id. */
function reportMissing({ orgId, record }: OrganisationHeader, report: ImportReport): void {
  const message = formatIssue(record === undefined ? NAME_MISSING : ID_MISSING);
  report.addError({ type: 'org', ...(orgId === '' ? {} : { id: orgId }), message });
  report.count('failed', organisationSection.name);
}

function organisationKey(orgId: string): DocumentKey {
  return { collection: organisationSection.collection, id: documentId(orgId) };
}

/**
 * Passwords follow the policies of the document or, where it has none, those that are there; login names the domain policy
 * that is there, since a document's other one does not replace it, or the document's.
 */
async function loadTargets(
  store: DocumentStore,
  organisations: readonly OrganisationHeader[],
  reached: readonly number[],
  report: ImportReport,
): Promise<Targets> {
  const targets = new Map<number, TargetOrganisation>();
  for (let at = 0; at < reached.length; at += READ_AT_ONCE) {
    const part = reached.slice(at, at + READ_AT_ONCE).flatMap((index) => {
      const header = organisations[index];
      return header === undefined ? [] : [{ index, header }];
    });
    const orgIds = part.map(({ header }) => header.orgId);
    const domain = await storedPolicies(store, orgIds, 'loginNames');
    const complexity = await storedPolicies(store, orgIds, 'passwords');
    for (const [position, { index, header }] of part.entries()) {
      targets.set(index, toTarget(header, domain[position], complexity[position]));
      report.reached(index, header);
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
