// Finds names that organisations reserve by verifying a domain. Another import can verify a domain at any time, so each
// commit fails if the verified domains have changed.

import { randomUUID } from 'node:crypto';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { domainSection } from '../../../shared/organisation/sections/domains.ts';
import {
  type DocumentKey,
  type DocumentStore,
  distinctKeys,
  documentId,
  type Transaction,
  type Write,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import { isDeleted, type Mirror } from '../mirror/deletions.ts';
import { isWritten, type Settled } from '../stages.ts';

/*
 * The version of the verified domains is a random text, which several documents contain. Every verification of a domain
 * changes the version. The commit of a batch with people fails if the version has changed since the batch was read.
 * Firestore locks the document that a commit checks, and an import has up to 16 commits in flight. So the commits check
 * different documents.
 */
const COPIES = 16;

const copies: readonly DocumentKey[] = Array.from({ length: COPIES }, (_, number) => ({
  collection: 'instance',
  id: documentId('verified domains', String(number)),
}));

export async function createDomainVersion(store: DocumentStore): Promise<void> {
  const [stored] = await store.getMany(copies.slice(0, 1), []);
  if (stored !== undefined) return;
  try {
    await store.commit(copies.map((key) => ({ type: 'create', key, fields: { digest: randomUUID() } })));
  } catch (error) {
    // A conflict means that another import has created the documents.
    if (!(error instanceof WriteConflictError)) throw error;
  }
}

export function domainVersionWrites(records: readonly Settled[]): Write[] {
  if (!records.some(({ plan, outcome }) => isWritten(outcome) && claimsDomain(plan))) return [];
  const digest = randomUUID();
  return copies.map((key) => ({ type: 'update', key, fields: { digest } }));
}

export function claimsDomain({ record, claims }: RecordPlan): boolean {
  return record.section === domainSection && claims.length > 0;
}

/**
 * The maximum number of names whose owner is kept in memory. Ten thousand are usually enough, because most user names
 * end in the same few domains.
 */
const MAX_KNOWN_NAMES = 10_000;

/**
 * Which organisation reserves each name, as read at one version of the verified domains. The key of `owners` is the id
 * of the document that would reserve the name; the value is the organisation's id, or undefined if no organisation
 * reserves the name.
 */
interface KnownNames {
  readonly version: string | undefined;
  readonly owners: Map<string, string | undefined>;
}

export class ReservedNames {
  private knownNames: KnownNames = { version: undefined, owners: new Map() };
  private reads = 0;
  private readonly mirror: Mirror | undefined;

  /**
   * @param mirror the deletions of a mirroring import. If the import deletes a domain, this domain reserves no names
   */
  constructor(mirror?: Mirror) {
    this.mirror = mirror;
  }

  /**
   * Finds the records with a name that another organisation reserves. The import must not create such a record, or give
   * it this name. A stored record that already has such a name may keep it, because the record is older than the
   * verification of the domain. If a call verifies a domain before the transaction commits, the commit fails.
   * @returns the records, each with its issue
   */
  async find(transaction: Transaction, plans: readonly RecordPlan[]): Promise<ReadonlyMap<RecordPlan, RecordIssue>> {
    const reserving = plans.filter(({ reserves }) => reserves.length > 0);
    if (reserving.length === 0) return new Map();
    const keys = distinctKeys(reserving.flatMap(({ reserves }) => reserves.map(({ key }) => key)));
    const owners = await this.readOwners(transaction, keys);
    return new Map(
      reserving.flatMap((plan) => {
        const { orgId } = plan.record;
        const [issue] = plan.reserves.flatMap(({ key, reserved }): RecordIssue[] => {
          const organisation = owners.get(key.id) ?? orgId;
          return organisation === orgId ? [] : [{ ...reserved, params: { organisation } }];
        });
        return issue === undefined ? [] : [[plan, issue]];
      }),
    );
  }

  /**
   * Reads which organisations reserve names. If the version of the verified domains changes before the transaction
   * commits, the commit fails.
   * @param keys the keys of the documents that would reserve the names
   */
  private async readOwners(
    transaction: Transaction,
    keys: readonly DocumentKey[],
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const copy = copies.slice(this.reads % COPIES).slice(0, 1);
    this.reads++;
    let { knownNames } = this;
    const unknown = keys.filter(({ id }) => !knownNames.owners.has(id));
    const [stored, ...claims] = await transaction.getMany([...copy, ...unknown], ['digest', 'orgId', 'ownerId']);
    if (stored?.digest !== knownNames.version) {
      knownNames = { version: stored?.digest, owners: new Map() };
      this.knownNames = knownNames;
      if (unknown.length < keys.length) return this.readOwners(transaction, keys);
    }
    transaction.hold(copy);
    const owners = new Map(keys.map(({ id }) => [id, knownNames.owners.get(id)]));
    for (const [index, { id }] of unknown.entries()) {
      const claim = claims[index];
      const owner = isDeleted(claim?.ownerId ?? '', this.mirror) ? undefined : claim?.orgId;
      owners.set(id, owner);
      if (knownNames.owners.size < MAX_KNOWN_NAMES) knownNames.owners.set(id, owner);
    }
    return owners;
  }
}
