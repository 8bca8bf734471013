import {
  type DeletionOptions,
  deleteFound,
  deleteWithClaims,
  findDependents,
  forgetImports,
  readDependents,
  type Stored,
  scanStored,
} from '../../shared/accounts/dependents.ts';
import { requireOtherOwner } from '../../shared/accounts/memberships.ts';
import { changeRemovals } from '../../shared/accounts/runningRemovals.ts';
import { defined } from '../../shared/defined.ts';
import { defaultOrganisationKept, organisationUnknown } from '../../shared/errors/commandErrors.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { isInRemoval, removedOrganisations, sections } from '../../shared/organisation/allSections.ts';
import { scopeKey } from '../../shared/organisation/loginNameScope.ts';
import { type Section, sectionPartition } from '../../shared/organisation/sections/section.ts';
import { deletionPartition, humanUserSection, machineUserSection } from '../../shared/organisation/sections/users.ts';
import { organisationKey } from '../../shared/store/documentKeys.ts';
import { readDefaultOrganisation } from '../../shared/store/instance.ts';
import { scanInPasses } from '../../shared/store/passes.ts';
import type { DocumentKey, Reader, Store } from '../../shared/store/store.ts';

export interface RemovableOrganisation {
  readonly orgId: string;
  readonly name: string;
  readonly people: number;
  readonly serviceUsers: number;
}

/**
 * Describes the organisations of a removal, and checks that nothing prevents their removal.
 * @throws IdentityError NOT_FOUND for an unknown organisation; FAILED_PRECONDITION for the default organisation, or if
 * no active IAM_OWNER would remain
 */
export async function describeRemoval(store: Store, orgIds: readonly string[]): Promise<RemovableOrganisation[]> {
  const stored = await store.getMany(orgIds.map(organisationKey), ['body']);
  await requireRemovable(store, store, orgIds);
  const described: RemovableOrganisation[] = [];
  for (const [index, orgId] of orgIds.entries()) {
    const name = textAt(parseObject(stored[index]?.body), 'org.name', orgId);
    const people = await countStoredRecords(store, orgId, humanUserSection);
    described.push({ orgId, name, people, serviceUsers: await countStoredRecords(store, orgId, machineUserSection) });
  }
  return described;
}

/**
 * Requires that nothing prevents the removal of organisations.
 * @returns the keys of the documents that prove that an active IAM_OWNER remains. If one of these documents changes
 * before the removal's first commit, that commit must fail
 */
async function requireRemovable(
  store: Store,
  reader: Reader,
  orgIds: readonly string[],
): Promise<readonly DocumentKey[]> {
  const [unknown] = await findMissing(reader, orgIds);
  if (unknown !== undefined) throw organisationUnknown({ orgId: unknown });
  const kept = await readDefaultOrganisation(reader);
  if (orgIds.includes(kept)) throw defaultOrganisationKept({ orgId: kept });
  return requireOtherOwner(store, reader, ({ orgId }) => orgIds.includes(orgId));
}

export async function findMissing(reader: Reader, orgIds: readonly string[]): Promise<string[]> {
  const organisations = await reader.getMany(orgIds.map(organisationKey), []);
  return orgIds.filter((_, index) => organisations[index] === undefined);
}

async function countStoredRecords(store: Store, orgId: string, section: Section): Promise<number> {
  let count = 0;
  const partition = sectionPartition(orgId, section);
  for await (const batch of scanInPasses(store, { collection: section.collection, partition, fields: [] }))
    count += batch.length;
  return count;
}

/**
 * Removes organisations with all their records, and the records of other organisations that depend on these records.
 * The first commit marks the organisations, and the last commit deletes them. After the first commit, tokens of the
 * organisations' users are invalid, exports omit the organisations, and imports do not write into the organisations. To
 * continue an interrupted removal, repeat the call. The caller must hold the instance's lock exclusively.
 * @param signal stops the removal between two batches, with the signal's reason as the error
 * @param onDeleted called with the number of documents of each deleted batch
 * @returns the number of deleted documents, except documents that reserve unique names
 * @throws the errors of `describeRemoval`
 */
export async function removeOrganisations(
  store: Store,
  orgIds: readonly string[],
  signal: AbortSignal,
  onDeleted?: DeletionOptions['onDeleted'],
): Promise<number> {
  const options = { signal, ...defined({ onDeleted }) };
  await beginRemoval(store, orgIds);
  const dependents = findDependents(store, new Set(orgIds));
  let deleted = await deleteFound(store, dependents, { ...options, onDeleting: forgetImports });
  for (const orgId of orgIds) deleted += await deleteFound(store, findOwn(store, orgId), options);
  await finishRemoval(store, orgIds);
  return deleted + orgIds.length;
}

function beginRemoval(store: Store, orgIds: readonly string[]): Promise<void> {
  return store.transaction(async (transaction) => {
    const stored = await transaction.getMany(orgIds.map(organisationKey), ['partition']);
    transaction.hold(await requireRemovable(store, transaction, orgIds));
    const begun = orgIds.filter((_, index) => stored[index] === undefined || !isInRemoval(stored[index]));
    if (begun.length === 0) return;
    for (const orgId of begun) {
      const fields = {
        state: 'ORG_STATE_REMOVED',
        partition: sectionPartition(orgId, removedOrganisations),
        digest: null,
      };
      transaction.write([{ type: 'update', key: organisationKey(orgId), fields }]);
    }
    await changeRemovals(transaction, (earlier) => new Set([...earlier, ...begun]));
  });
}

/** Yields an organisation's records. If a record refers to another record, yields the referring record first. */
async function* findOwn(store: Store, orgId: string): AsyncGenerator<readonly Stored[]> {
  const inReverse = [...sections].sort((a, b) => b.phase - a.phase);
  const ranges = inReverse.flatMap((section) => {
    const { collection } = section;
    const sectionRange = { collection, partition: sectionPartition(orgId, section) };
    const isServiceUsers = section.name === machineUserSection.name;
    return isServiceUsers ? [sectionRange, { collection, partition: deletionPartition(orgId) }] : [sectionRange];
  });
  for (const range of ranges) yield* scanStored(store, range);
}

function finishRemoval(store: Store, orgIds: readonly string[]): Promise<void> {
  return store.transaction(async (transaction) => {
    await deleteWithClaims(transaction, await readDependents(transaction, orgIds.map(organisationKey)));
    transaction.write(orgIds.map((orgId) => ({ type: 'delete', key: scopeKey(orgId) })));
    await changeRemovals(transaction, (earlier) => [...earlier].filter((orgId) => !orgIds.includes(orgId)));
  });
}
