import { z } from 'zod';
import { upgradeKey } from '../format.ts';
import { collections, type Reader, type Write } from '../store.ts';
import type { SharedName } from './migration.ts';

const sharedName = z.object({
  orgId: z.string(),
  collection: z.enum(collections),
  id: z.string(),
  holderId: z.string(),
});
/** A shared name in a record of an upgrade to format 3, which knew those of users only. */
const sharedLoginName = z
  .object({ orgId: z.string(), userId: z.string(), holderId: z.string() })
  .transform(({ orgId, userId, holderId }): SharedName => ({ orgId, collection: 'users', id: userId, holderId }));

const upgradeRecord = z.object({
  from: z.number(),
  to: z.number(),
  /** Whether processes of older versions have had the time to notice the format. */
  isFenced: z.boolean(),
  isFinished: z.boolean(),
  /** The unfinished step, and the last document that it has migrated; absent at the beginning. */
  step: z.string().optional(),
  after: z.string().optional(),
  sharedNames: z.array(z.union([sharedName, sharedLoginName])),
  /** The number of shared names, also those beyond the list's limit. */
  sharedNameCount: z.number(),
});

/** The progress of an unfinished upgrade, or the result of the last one. */
export type UpgradeRecord = z.infer<typeof upgradeRecord>;

/** Bounds the record's size. */
const MAX_SHARED_NAMES = 1_000;

/** Creates the record of an upgrade that begins. */
export function newUpgradeRecord(from: number, to: number): UpgradeRecord {
  return { from, to, isFenced: false, isFinished: false, sharedNames: [], sharedNameCount: 0 };
}

/** Reads the record of the last upgrade; undefined for a database that was created in its format. */
export async function readUpgradeRecord(reader: Reader): Promise<UpgradeRecord | undefined> {
  const [stored] = await reader.getMany([upgradeKey], ['body']);
  return stored?.body === undefined ? undefined : upgradeRecord.parse(JSON.parse(stored.body));
}

/**
 * Creates the write that stores a record.
 * @param exists whether the database has an earlier one
 */
export function upgradeRecordWrite(record: UpgradeRecord, exists: boolean): Write {
  const fields = { body: JSON.stringify(record) };
  return { type: exists ? 'update' : 'create', key: upgradeKey, fields };
}

/** Adds shared names to a record. A repeated pass over the same records adds nothing. */
export function withSharedNames(record: UpgradeRecord, found: readonly SharedName[]): UpgradeRecord {
  const place = ({ collection, id }: SharedName) => `${collection}/${id}`;
  const known = new Set(record.sharedNames.map(place));
  const added = found.filter((name) => !known.has(place(name)));
  return {
    ...record,
    sharedNames: [...record.sharedNames, ...added].slice(0, MAX_SHARED_NAMES),
    sharedNameCount: record.sharedNameCount + added.length,
  };
}
