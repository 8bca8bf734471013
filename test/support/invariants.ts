import { hash } from 'node:crypto';
import { textAt } from '../../shared/json/jsonObject.ts';
import { ownerOf, type RecordPlan, referencesOf } from '../../shared/organisation/recordPlan.ts';
import { partitionOf, type Reference } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import { type Collection, documentId, type StoredDocument } from '../../shared/store/store.ts';
import { type Database, recordCollections } from './database.ts';
import { type Documents, parsed, planOf } from './storedPlans.ts';

const MEMBERS_OF_INSTANCE = 'instanceMembers';

/** A stored record, and where it would be written with which claims if it came in an import now. */
interface Planned {
  readonly name: string;
  readonly document: StoredDocument;
  readonly plan: RecordPlan;
}

/**
 * Everything that is wrong in a database, one text each: records that are not what their digest, place or organisation
 * says, records without their claims and claims without their record, references to what is not there. Works all of it
 * out anew from the records' bodies and the table of sections.
 */
export function violationsOf(database: Database): string[] {
  const documents: Documents = new Map(
    [...database].flatMap(([collection, all]) => all.map((one) => [ownerOf({ collection, id: one.id }), one] as const)),
  );
  const { planned, faults } = planAll(database, documents);
  return [
    ...faults,
    ...planned.flatMap((one) => [...recordFaults(one, documents), ...referenceFaults(one, documents)]),
    ...claimFaults(planned, database.get('claims') ?? []),
    ...ownerFaults(database, documents),
  ];
}

function planAll(database: Database, documents: Documents): { planned: Planned[]; faults: string[] } {
  const planned: Planned[] = [];
  const faults: string[] = [];
  for (const collection of recordCollections) {
    for (const document of database.get(collection) ?? []) {
      if (document.partition === MEMBERS_OF_INSTANCE) continue;
      const name = ownerOf({ collection, id: document.id });
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
    [name !== ownerOf(plan.key), `should be ${ownerOf(plan.key)}`],
    [document.partition !== partitionOf(orgId, section), `is in the partition ${document.partition}`],
    [!documents.has(organisationName(orgId)), `is of the organisation ${orgId}, which is not there`],
  ];
  return faults.filter(([holds]) => holds).map(([, text]) => `${name} ${text}`);
}

function organisationName(orgId: string): string {
  return ownerOf({ collection: organisationSection.collection, id: documentId(orgId) });
}

function referenceFaults({ name, plan }: Planned, documents: Documents): string[] {
  return referencesOf(plan.record).flatMap(({ reference, key }) => {
    const target = ownerOf(key);
    const faults = targetFaults(reference, documents.get(target), plan.record.orgId);
    return faults.map((text) => `${name} refers to ${target}, ${text}`);
  });
}

function targetFaults({ ofOther }: Reference, target: StoredDocument | undefined, orgId: string): string[] {
  if (target === undefined) return ['which is not there'];
  return ofOther !== undefined && target.orgId !== orgId ? ['which is of another organisation'] : [];
}

function claimFaults(planned: readonly Planned[], claims: readonly StoredDocument[]): string[] {
  const stored = new Map(claims.map((claim) => [claim.id, claim]));
  const needed = new Set<string>();
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

/** Tokens and memberships of the instance belong to users, and the instance has its default organisation. */
function ownerFaults(database: Database, documents: Documents): string[] {
  const absent = (collection: Collection, userId: string, id: string) =>
    documents.has(ownerOf({ collection: 'users', id: documentId(userId) }))
      ? []
      : [`${collection}/${id} is of the user ${userId}, who is not there`];
  const members = (database.get('members') ?? []).filter(({ partition }) => partition === MEMBERS_OF_INSTANCE);
  return [
    ...(database.get('tokens') ?? []).flatMap(({ id, ownerId = '' }) => absent('tokens', ownerId, id)),
    ...members.flatMap(({ id, body }) => absent('members', textAt(parsed(body) ?? {}, 'userId', ''), id)),
  ];
}
