import { type DocumentKey, decorateStore, documentPath, type Store, type Write } from '../../../shared/store/store.ts';
import { hookedStore } from './watchedStore.ts';

/** A store whose writer a test can pause before a record, while other commits continue. */
export interface HeldStore {
  readonly store: Store;
  /** Runs `work` before the next write of a record. The write waits until `work` has ended; then this resolves. */
  before(key: DocumentKey, work: () => Promise<void>): Promise<void>;
}

/** Creates a store that a test can pause. */
export function heldStore(inner: Store): HeldStore {
  let held: { readonly path: string; readonly run: () => Promise<void> } | undefined;
  const hold = async (writes: readonly Write[]) => {
    if (held === undefined || !writes.some(({ key }) => documentPath(key) === held?.path)) return;
    const { run } = held;
    held = undefined;
    await run();
  };
  return {
    store: decorateStore(hookedStore(inner, hold), () => ({ advice: inner.advice })),
    before: (key, work) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      held = { path: documentPath(key), run: () => work().then(resolve, reject) };
      return promise;
    },
  };
}
