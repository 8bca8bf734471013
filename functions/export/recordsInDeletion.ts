import { readCheckpointEpoch } from '../../shared/checkpointEpoch.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import {
  foreignSections,
  isRequiredUser,
  requiresUser,
  selectDependents,
} from '../../shared/organisation/requiredRecords.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { deletionPartitions, machineUserSection } from '../../shared/organisation/sections/users.ts';
import { readRemovals } from '../../shared/organisationRemovals.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';

/** The users and organisations whose deletion has begun and not ended. */
interface Deletions {
  readonly userIds: ReadonlySet<string>;
  readonly orgIds: ReadonlySet<string>;
}

/**
 * A filter of the records that refer to users and organisations in deletion. These are not exported, and no import could
 * create a record that refers to them. An export of an instance without them costs at most three small reads more.
 */
export class RecordsInDeletion {
  private readonly snapshot: Snapshot;
  private deletions: Promise<Deletions> | undefined;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  /** Returns a section's records without those that will be deleted. */
  async omit(section: Section, documents: readonly StoredDocument[]): Promise<readonly StoredDocument[]> {
    const mayNameUsers = section.references?.some(isRequiredUser) === true;
    if (!mayNameUsers && !foreignSections.includes(section)) return documents;
    this.deletions ??= readDeletions(this.snapshot);
    const { userIds, orgIds } = await this.deletions;
    if (userIds.size + orgIds.size === 0) return documents;
    const records = documents.map((stored) => ({ section, stored })).filter((one) => !requiresUser(one, userIds));
    const omitted = new Set(orgIds.size === 0 ? [] : await selectDependents(this.snapshot, orgIds, records));
    return records.filter((record) => !omitted.has(record)).map(({ stored }) => stored);
  }
}

async function readDeletions(snapshot: Snapshot): Promise<Deletions> {
  const [{ id: epoch }, { orgIds }] = await Promise.all([
    readCheckpointEpoch(snapshot, snapshot.readTime),
    readRemovals(snapshot),
  ]);
  // Every deletion begins with a new epoch. Firestore's emulator has no index on partitions: it would read all users.
  return { userIds: epoch === '' ? new Set() : await readUsers(snapshot), orgIds };
}

async function readUsers(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const { collection } = machineUserSection;
  const userIds = new Set<string>();
  for await (const users of snapshot.scan({ collection, partitions: deletionPartitions, fields: ['body'] }))
    for (const { body } of users) userIds.add(textAt(parseObject(body), 'userId', ''));
  return userIds;
}
