import {
  beginOverwriting,
  endOverwriting,
  readCheckpointEpoch,
  renewOverwriting,
} from '../../../shared/accounts/checkpointEpoch.ts';
import type { DocumentKey, DocumentStore, Reader, Transaction, Write } from '../../../shared/store/store.ts';
import { noteExpiry } from './checkpoint.ts';

/** The overwriter where several imports overwrite at once: no checkpoint is valid until the mark expires. */
const SEVERAL = 'several';

/**
 * The mark of an import that overwrites, in the epoch of checkpoints. Other imports must not treat overwritten records as
 * already imported: while the mark is set they neither resume nor save checkpoints, and those saved before are void.
 */
export class OverwriteMark {
  /** The epoch in which this import's checkpoints are valid; undefined where they would be void. */
  epoch: string | undefined;
  private readonly id: string;
  private readonly now: () => Date;
  private isSet = false;

  /** @param key the key of the import's checkpoint */
  constructor(key: DocumentKey, now: () => Date) {
    this.id = key.id;
    this.now = now;
  }

  /**
   * Reads the mark and the epoch, which may have changed since an earlier call.
   * @returns whether an unfinished import, perhaps an earlier call of this one, overwrites records
   */
  async load(reader: Reader): Promise<boolean> {
    const { id, overwriter } = await readCheckpointEpoch(reader, this.now());
    this.isSet = overwriter === this.id;
    this.epoch = overwriter === undefined || this.isSet ? id : undefined;
    return overwriter !== undefined;
  }

  /**
   * Returns the store with transactions that set the mark where they change existing documents, unless it is set. Each of
   * them looks again: the mark may have expired, and another call of the same import removes it when that is complete.
   */
  watch(store: DocumentStore): DocumentStore {
    return {
      getMany: (keys, fields) => store.getMany(keys, fields),
      commit: (writes) => store.commit(writes),
      transaction: async (work) => {
        const { result, overwrites, set } = await store.transaction((transaction) => this.run(transaction, work));
        this.isSet ||= overwrites;
        if (set !== undefined) this.adopt(set);
        return result;
      },
    };
  }

  /** Lets the mark last as long as the checkpoints that are saved until the next renewal. */
  async renew(store: DocumentStore): Promise<void> {
    if (this.isSet) await store.transaction((transaction) => renewOverwriting(transaction, noteExpiry(this.now())));
  }

  /** Removes the mark, once the import is complete. */
  async remove(store: DocumentStore): Promise<void> {
    if (!this.isSet) return;
    await store.transaction(async (transaction) => {
      const { overwriter } = await readCheckpointEpoch(transaction, this.now());
      if (overwriter === this.id) await endOverwriting(transaction);
    });
  }

  private async run<Result>(
    transaction: Transaction,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<{ result: Result; overwrites: boolean; set: NewEpoch | undefined }> {
    let overwrites = false;
    const write = (writes: readonly Write[]) => {
      overwrites ||= writes.some(({ type }) => type !== 'create');
      transaction.write(writes);
    };
    const result = await work({ ...transaction, write });
    // Read after the documents to overwrite: who has counted one of them as it is has read the epoch before.
    return { result, overwrites, set: overwrites ? await this.set(transaction) : undefined };
  }

  private async set(transaction: Transaction): Promise<NewEpoch | undefined> {
    const before = await readCheckpointEpoch(transaction, this.now());
    // Another batch or call of this import has set it, or it stays anyway.
    if (before.overwriter === this.id || (before.overwriter === SEVERAL && this.isSet)) return undefined;
    const overwriter = before.overwriter === undefined ? this.id : SEVERAL;
    const id = await beginOverwriting(transaction, overwriter, noteExpiry(this.now()));
    return { before: before.id, id: overwriter === this.id ? id : undefined };
  }

  /** Continues in the new epoch, unless the former one had ended already: then records may have been deleted. */
  private adopt({ before, id }: NewEpoch): void {
    this.epoch = before === this.epoch ? id : undefined;
  }
}

interface NewEpoch {
  /** The epoch that ended. */
  readonly before: string;
  /** The epoch that began; undefined where other imports overwrite too. */
  readonly id: string | undefined;
}
