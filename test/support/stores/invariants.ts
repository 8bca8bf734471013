import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { scopeKey } from '../../../shared/organisation/loginNameScope.ts';
import { InvalidRecordError } from '../../../shared/organisation/message.ts';
import { readRecord, toRecord } from '../../../shared/organisation/record.ts';
import { planRecord, planReferences, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { Reference } from '../../../shared/organisation/relations.ts';
import { domainPolicySection } from '../../../shared/organisation/sections/policies.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { sectionPartition } from '../../../shared/organisation/sections/section.ts';
import { instanceKey } from '../../../shared/store/instance.ts';
import { type Collection, documentId, documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import { type Database, recordCollections } from './database.ts';

/** As in ZITADEL, an application that gets another authentication method keeps its keys. */
const methodOfKeyChanged = 'COMMAND-Dff54';
const MEMBERS_OF_INSTANCE = 'instanceMembers';
const sectionsByName: ReadonlyMap<string, Section> = new Map(recordSections.map((section) => [section.name, section]));

/** Documents by `<collection>/<id>`, the form in which a claim refers to its owner. */
type Documents = ReadonlyMap<string, StoredDocument>;

/** A stored record, with the place and claims that an import would give it now. */
interface Planned {
  readonly name: string;
  readonly document: StoredDocument;
  readonly plan: RecordPlan;
}

/**
 * Lists all violations in a database as texts: records that differ from their digest, place or organisation, records
 * without their claims, claims without their record, and references to missing records. Derives them from the records'
 * bodies and the table of sections.
 */
export function violationsOf(database: Database): string[] {
  const documents: Documents = new Map(
    [...database].flatMap(([collection, all]) =>
      all.map((one) => [documentPath({ collection, id: one.id }), one] as const),
    ),
  );
  const { planned, faults } = planAll(database, documents);
  return [
    ...faults,
    ...planned.flatMap((one) => [...recordFaults(one, documents), ...referenceFaults(one, documents)]),
    ...claimFaults(planned, database.get('claims') ?? [], documents),
    ...ownerFaults(database, documents),
  ];
}

function planAll(database: Database, documents: Documents): { planned: Planned[]; faults: string[] } {
  const planned: Planned[] = [];
  const faults: string[] = [];
  for (const collection of recordCollections) {
    for (const document of database.get(collection) ?? []) {
      if (document.partition === MEMBERS_OF_INSTANCE) continue;
      const name = documentPath({ collection, id: document.id });
      const plan = planOf(document, documents);
      if (typeof plan === 'string') faults.push(`${name} ${plan}`);
      else planned.push({ name, document, plan });
    }
  }
  return { planned, faults };
}

function recordFaults({ name, document, plan }: Planned, documents: Documents): string[] {
  const { section, orgId, body } = plan.record;
  const faults: [boolean, string][] = [
    [document.digest !== hash('sha256', document.body ?? '', 'base64url'), 'has another digest than its body'],
    [document.body !== body, 'has a body that is not canonical'],
    [name !== documentPath(plan.key), `should be ${documentPath(plan.key)}`],
    [document.partition !== sectionPartition(orgId, section), `is in the partition ${document.partition}`],
    [!documents.has(organisationName(orgId)), `is of the organisation ${orgId}, which is not there`],
  ];
  return faults.filter(([holds]) => holds).map(([, text]) => `${name} ${text}`);
}

function organisationName(orgId: string): string {
  return documentPath({ collection: organisationSection.collection, id: documentId(orgId) });
}

function referenceFaults({ name, plan }: Planned, documents: Documents): string[] {
  return planReferences(plan.record).flatMap(({ reference, key, permit }) => {
    const target = documentPath(key);
    const isPermitted = permit !== undefined && documents.has(documentPath(permit));
    const { ifForeign: _foreign, ...permitted } = reference;
    const faults = targetFaults(isPermitted ? permitted : reference, documents.get(target), plan);
    return faults.map((text) => `${name} refers to ${target}, ${text}`);
  });
}

function targetFaults(
  { ifForeign, openTo, keptIfMissing, check }: Reference,
  target: StoredDocument | undefined,
  { record: { json, orgId } }: RecordPlan,
): string[] {
  if (target === undefined) return keptIfMissing === undefined ? ['which is not there'] : [];
  // Another organisation may have created it in the meantime.
  if (keptIfMissing !== undefined) return [];
  const body = parsed(target.body) ?? {};
  const isOpen = openTo !== undefined && textAt(body, openTo, orgId) === orgId;
  if (ifForeign !== undefined && target.orgId !== orgId && !isOpen) return ['which is of another organisation'];
  const issue = check?.(body, json, orgId);
  return issue === undefined || issue.id === methodOfKeyChanged ? [] : [`which a check rejects: ${issue.id}`];
}

function claimFaults(planned: readonly Planned[], claims: readonly StoredDocument[], documents: Documents): string[] {
  const stored = new Map(claims.map((claim) => [claim.id, claim]));
  const needed = new Set(planned.flatMap((one) => scopeOf(one, documents)));
  const missing = planned.flatMap(({ name, plan }) =>
    plan.claims.flatMap(({ key }) => {
      needed.add(`${key.id} of ${name}`);
      const claim = stored.get(key.id);
      if (claim === undefined) return [`${name} has not its claim ${key.id}`];
      if (claim.orgId !== plan.record.orgId) return [`claims/${key.id} is of the organisation ${claim.orgId}`];
      return claim.ownerId === name ? [] : [`${name} has its claim ${key.id} held by ${claim.ownerId}`];
    }),
  );
  const orphans = claims.filter(({ id, ownerId }) => !needed.has(`${id} of ${ownerId}`));
  return [...missing, ...orphans.map(({ id, ownerId }) => `claims/${id} is held by ${ownerId}, which has it not`)];
}

/**
 * Returns the claim of an organisation whose login names follow the instance's default. Returns none if its policy
 * differs.
 */
function scopeOf({ name, plan: { record } }: Planned, documents: Documents): string[] {
  const isOpen =
    record.section === organisationSection &&
    loginNamesByDomain(record.orgId, documents) === loginNamesByDefault(documents);
  return isOpen ? [`${scopeKey(record.orgId).id} of ${name}`] : [];
}

/** Lists the tokens, and the memberships of the instance, whose user does not exist. */
function ownerFaults(database: Database, documents: Documents): string[] {
  const absent = (collection: Collection, userId: string, id: string) =>
    documents.has(documentPath({ collection: 'users', id: documentId(userId) }))
      ? []
      : [`${collection}/${id} belongs to the user ${userId}, who does not exist`];
  const members = (database.get('members') ?? []).filter(({ partition }) => partition === MEMBERS_OF_INSTANCE);
  return [
    ...(database.get('tokens') ?? []).flatMap(({ id, ownerId = '' }) => absent('tokens', ownerId, id)),
    ...members.flatMap(({ id, body }) => absent('members', textAt(parsed(body) ?? {}, 'userId', ''), id)),
  ];
}

/** Returns the place and claims that an import would give a stored record now, or the reason why they are unknown. */
function planOf(document: StoredDocument, documents: Documents): RecordPlan | string {
  const { partition = '', orgId = '' } = document;
  const section = sectionsByName.get(partition.slice(0, partition.indexOf('/')));
  if (section === undefined) return `is in no section: ${partition}`;
  const json = parsed(document.body);
  if (json === undefined) return 'has no JSON object for its body';
  try {
    const isOrganisation = section === organisationSection;
    const record = isOrganisation ? toRecord(section, json, orgId) : readRecord(section, json, orgId);
    const isPolicy = section === domainPolicySection;
    return planRecord(record, isPolicy ? loginNamesByDefault(documents) : loginNamesByDomain(orgId, documents));
  } catch (error) {
    if (error instanceof InvalidRecordError) return `is no record of ${section.name}: ${error.message}`;
    throw error;
  }
}

/** Returns a parsed body; undefined if it is not a JSON object. */
function parsed(body = ''): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(body);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function loginNamesByDomain(orgId: string, documents: Documents): boolean {
  const policy = documents.get(documentPath({ collection: 'settings', id: documentId(orgId, 'domainPolicy') }));
  return policy === undefined ? loginNamesByDefault(documents) : parsed(policy.body)?.userLoginMustBeDomain === true;
}

function loginNamesByDefault(documents: Documents): boolean {
  return parsed(documents.get(documentPath(instanceKey))?.body)?.userLoginMustBeDomain === true;
}
