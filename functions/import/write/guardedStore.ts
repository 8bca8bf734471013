import { isInSection } from '../../../shared/organisation/section.ts';
import { isInDeletion, machineUserSection } from '../../../shared/organisation/sections/users.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';

/** An error for a batch that refers to a service user whose deletion began after its references were checked. */
export class ReferenceDeletedError extends Error {
  override readonly name = 'ReferenceDeletedError';
}

/**
 * The store of one batch of records. It notes the service users that are read for the batch's references, and commits
 * only while they exist: what is written for a user in deletion would outlive it, and belong to the id's next holder.
 * Nothing deletes other targets of references.
 */
export class GuardedStore implements DocumentStore {
  private readonly store: DocumentStore;
  private readonly guarded = new Map<string, DocumentKey>();

  constructor(store: DocumentStore) {
    this.store = store;
  }

  readonly getMany: DocumentStore['getMany'] = async (keys, fields) => {
    const documents = await this.store.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      if (isServiceUser(documents[index])) this.guarded.set(documentPath(key), key);
    }
    return documents;
  };

  /** @throws ReferenceDeletedError, WriteConflictError */
  readonly commit: DocumentStore['commit'] = (writes) => {
    if (this.guarded.size === 0) return this.store.commit(writes);
    return this.transaction(async ({ write }) => write(writes));
  };

  /** @throws ReferenceDeletedError, WriteConflictError; IdentityError ABORTED */
  readonly transaction: DocumentStore['transaction'] = (work) =>
    this.store.transaction(async (transaction) => {
      await this.hold(transaction);
      return work(transaction);
    });

  private async hold(transaction: Transaction): Promise<void> {
    const keys = [...this.guarded.values()];
    if (keys.length === 0) return;
    const users = await transaction.getMany(keys, ['partition']);
    if (users.some((user) => user === undefined || isInDeletion(user))) throw new ReferenceDeletedError();
    transaction.hold(keys);
  }
}

function isServiceUser(document: StoredDocument | undefined): boolean {
  return isInSection(document?.partition, machineUserSection);
}
