import { readDependents, storedClaims } from '../../../shared/accounts/dependents.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import {
  type DocumentKey,
  distinctKeys,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';
import type { FreedHolder } from '../decide/claims.ts';
import { comparedFields } from '../decide/storedEquality.ts';
import type { Mirror } from '../mirror/deletions.ts';
import type { Checked } from '../stages.ts';

export type StoredPair = readonly [RecordPlan, StoredDocument];

export class BatchDocuments {
  readonly byPath = new Map<string, StoredDocument>();
  private readonly transaction: Transaction;
  private readonly names = new Set<string>();

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  async read(keys: readonly DocumentKey[], fields: readonly FieldName[] = comparedFields): Promise<void> {
    if (keys.length === 0) return;
    const documents = await this.transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) this.byPath.set(documentPath(key), document);
    }
  }

  async readWhole(keys: readonly DocumentKey[]): Promise<void> {
    await this.read(keys, [...comparedFields, 'sequence', 'body']);
  }

  /**
   * Reads which records have these unique names, and which organisations own these identity providers. Skips keys that
   * an earlier call has read.
   */
  async readNames(keys: readonly DocumentKey[]): Promise<void> {
    const unread = distinctKeys(keys).filter((key) => !this.names.has(documentPath(key)));
    for (const key of unread) this.names.add(documentPath(key));
    await this.read(unread, ['orgId', 'ownerId']);
  }

  /**
   * For a mirroring import, reads the stored records that the import deletes because the batch needs their names. For
   * each record, also reads the documents that may reserve its names.
   */
  async readFreed(plans: readonly RecordPlan[], mirror: Mirror | undefined): Promise<ReadonlyMap<string, FreedHolder>> {
    if (mirror?.isDeleting !== true) return new Map();
    const keys = plans.flatMap(({ claims }) =>
      claims.flatMap(({ key }) => mirror.deletions.findFree(this.byPath.get(documentPath(key))?.ownerId ?? '') ?? []),
    );
    const dependents = await readDependents(this.transaction, distinctKeys(keys));
    const freed = dependents.map(
      ({ key, stored }) => [documentPath(key), { key, stored, claims: storedClaims(stored) }] as const,
    );
    await this.readNames(freed.flatMap(([, { claims }]) => claims));
    return new Map(freed);
  }

  pairs(records: readonly Checked[]): StoredPair[] {
    return records.flatMap(({ plan }): StoredPair[] => {
      const stored = this.byPath.get(documentPath(plan.key));
      return stored === undefined ? [] : [[plan, stored]];
    });
  }
}
