import {
  beginOverwriting,
  type CheckpointEpoch,
  endOverwriting,
  readCheckpointEpoch,
  renewOverwriting,
} from '../../../shared/checkpointEpoch.ts';
import type { DocumentKey, DocumentStore, Transaction, Write } from '../../../shared/store/store.ts';
import { noteExpiry } from './checkpoint.ts';

/** The overwriter where several imports overwrite at once: no checkpoint is valid until the mark expires. */
const SEVERAL = 'several';

/**
 * The mark of an import that overwrites, in the epoch of checkpoints. Other imports must not treat overwritten records as
 * already imported: while the mark is set they neither resume nor save checkpoints, and those saved before are void.
 */
export class OverwriteMark {
  private readonly id: string;
  private readonly now: () => Date;
  private isSet: boolean;
  private current: string | undefined;

  /** @param key the key of the import's checkpoint */
  constructor(key: DocumentKey, now: () => Date, { id, overwriter }: CheckpointEpoch) {
    this.id = key.id;
    this.now = now;
    this.isSet = overwriter === this.id;
    this.current = overwriter === undefined || this.isSet ? id : undefined;
  }

  /** The epoch in which this import's checkpoints are valid; undefined where they would be void. */
  get epoch(): string | undefined {
    return this.current;
  }

  /** Returns the store with transactions that set the mark in the first commit that changes existing documents. */
  watch(store: DocumentStore): DocumentStore {
    return {
      getMany: (keys, fields) => store.getMany(keys, fields),
      commit: (writes) => store.commit(writes),
      transaction: async (work) => {
        const { result, set } = await store.transaction((transaction) => this.run(transaction, work));
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
  ): Promise<{ result: Result; set: NewEpoch | undefined }> {
    let overwrites = false;
    const write = (writes: readonly Write[]) => {
      overwrites ||= writes.some(({ type }) => type !== 'create');
      transaction.write(writes);
    };
    const result = await work({ ...transaction, write });
    return { result, set: overwrites && !this.isSet ? await this.set(transaction) : undefined };
  }

  private async set(transaction: Transaction): Promise<NewEpoch | undefined> {
    const before = await readCheckpointEpoch(transaction, this.now());
    // Another batch in flight has set it, and this one read it before that became known.
    if (before.overwriter === this.id) return undefined;
    const overwriter = before.overwriter === undefined ? this.id : SEVERAL;
    const id = await beginOverwriting(transaction, overwriter, noteExpiry(this.now()));
    return { before: before.id, id: overwriter === this.id ? id : undefined };
  }

  /** Continues in the new epoch, unless the former one had ended already: then records may have been deleted. */
  private adopt({ before, id }: NewEpoch): void {
    this.isSet = true;
    this.current = before === this.current ? id : undefined;
  }
}

interface NewEpoch {
  /** The epoch that ended. */
  readonly before: string;
  /** The epoch that began; undefined where other imports overwrite too. */
  readonly id: string | undefined;
}
