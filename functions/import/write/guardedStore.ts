// The store of a batch, which commits only while the targets of references are as they were checked.

import { holdRemovalsVersion, type Removals } from '../../../shared/accounts/organisationRemovals.ts';
import { isInSection } from '../../../shared/organisation/section.ts';
import { projectGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { isInDeletion, machineUserSection } from '../../../shared/organisation/sections/users.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';
import type { RemovalWatch } from './removalWatch.ts';

/** An error for a batch whose references no longer are as they were checked. */
export class ReferenceChangedError extends Error {
  override readonly name = 'ReferenceChangedError';
}

/** Why a reference must be as it was checked until the commit. */
type ReferenceGuard = 'mayBeDeleted' | 'mayBeNarrowed';

interface Guarded {
  readonly key: DocumentKey;
  readonly guard: ReferenceGuard;
  readonly body: string | undefined;
}

/**
 * The store of one batch of records. It remembers the documents that are read for the batch's references, and commits only
 * while
 * - its service users exist: a record of a user in deletion would outlive the user, and belong to the id's next holder;
 * - its project grants have the checked content: an overwrite may take roles from them;
 * - no removal of an organisation has begun or ended since it was checked: it deletes targets of references, and
 *   later writes into the organisation would outlive it.
 * No other operation deletes targets of references, or takes roles from them.
 */
export class GuardedStore implements DocumentStore {
  private readonly store: DocumentStore;
  private readonly watch: RemovalWatch;
  /** The removals that the batch is checked against. */
  readonly removals: Removals;
  private readonly guarded = new Map<string, Guarded>();

  constructor(store: DocumentStore, watch: RemovalWatch) {
    this.store = store;
    this.watch = watch;
    this.removals = watch.removals;
  }

  readonly getMany: DocumentStore['getMany'] = async (keys, fields) => {
    const documents = await this.store.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      const guard = findGuard(document);
      if (guard !== undefined) this.guarded.set(documentPath(key), { key, guard, body: document?.body });
    }
    return documents;
  };

  /** @throws ReferenceChangedError, WriteConflictError */
  readonly commit: DocumentStore['commit'] = (writes) => this.transaction(async ({ write }) => write(writes));

  /** @throws ReferenceChangedError, WriteConflictError; IdentityError ABORTED */
  readonly transaction: DocumentStore['transaction'] = (work) =>
    this.store.transaction(async (transaction) => {
      await Promise.all([
        this.holdRemovals(transaction),
        this.hold(transaction, 'mayBeDeleted', ['partition']),
        this.hold(transaction, 'mayBeNarrowed', ['partition', 'body']),
      ]);
      return work(transaction);
    });

  private async holdRemovals(transaction: Transaction): Promise<void> {
    if ((await holdRemovalsVersion(transaction)) === this.removals.version) return;
    await this.watch.refresh();
    throw new ReferenceChangedError();
  }

  private async hold(
    transaction: Transaction,
    guard: ReferenceGuard,
    fields: Parameters<DocumentStore['getMany']>[1],
  ): Promise<void> {
    const guarded = [...this.guarded.values()].filter((one) => one.guard === guard);
    if (guarded.length === 0) return;
    const keys = guarded.map(({ key }) => key);
    const current = await transaction.getMany(keys, fields);
    const isUnchanged = ({ body }: Guarded, document: StoredDocument | undefined) =>
      document !== undefined && !isInDeletion(document) && (guard === 'mayBeDeleted' || document.body === body);
    if (!guarded.every((one, index) => isUnchanged(one, current[index]))) throw new ReferenceChangedError();
    transaction.hold(keys);
  }
}

function findGuard(document: StoredDocument | undefined): ReferenceGuard | undefined {
  if (isInSection(document?.partition, machineUserSection)) return 'mayBeDeleted';
  if (document?.body === undefined) return undefined;
  return isInSection(document.partition, projectGrantSection) ? 'mayBeNarrowed' : undefined;
}
