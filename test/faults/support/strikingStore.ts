import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';

/** The fault of a single commit, while the others in flight succeed. */
type Strike = 'throttled' | 'throttled to the end' | 'delayed' | 'answered late' | 'failed' | 'spared';

/** The probability of a fault; the other commits succeed. */
const likelihoods: readonly (readonly [Strike, number])[] = [
  ['throttled', 0.1],
  ['delayed', 0.1],
  ['answered late', 0.05],
  ['failed', 0.005],
];
const MAX_DELAY_MS = 20;
const RECORDS_PER_COMMIT = 5;

/** A store with faults in single commits, and the observations of its commits. */
export interface StrikingStore {
  readonly store: Store;
  /** Injects faults into commits from now on, and lets `onCommit` choose the fault of some of them. */
  begin(onCommit: () => Strike | undefined): void;
  end(): void;
}

/**
 * Puts faults in front of single commits of a store. Commits are small, so that a small file has many in flight. A throttled
 * commit is in back-off until it succeeds, or until its call ends: then it fails with the call's reason, without an effect.
 * The response to a delayed commit is lost if its call ends during the delay.
 */
export function strikingStore(inner: Store, random: () => number): StrikingStore {
  let onCommit: (() => Strike | undefined) | undefined;
  const choose = (): Strike => {
    const chosen = random();
    let below = 0;
    for (const [strike, likelihood] of likelihoods) {
      below += likelihood;
      if (chosen < below) return strike;
    }
    return 'spared';
  };
  const around = async <Result>(signal: AbortSignal, commit: () => Promise<Result>): Promise<Result> => {
    if (onCommit === undefined) return commit();
    const strike = onCommit() ?? choose();
    const wait = () => setTimeout(random() * MAX_DELAY_MS);
    const waitUnlessEnded = () =>
      setTimeout(random() * MAX_DELAY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    if (strike === 'failed') throw storeUnavailable({}, { cause: new Error('injected') });
    if (strike === 'throttled') await waitUnlessEnded();
    if (strike === 'throttled to the end') await endOf(signal);
    if (strike === 'delayed') await wait();
    const result = await commit();
    if (strike === 'answered late') await waitUnlessEnded();
    return result;
  };
  const store = decorateStore(inner, (called, { signal } = { signal: new AbortController().signal }) => ({
    commit: (writes) => (writes.length === 0 ? called.commit(writes) : around(signal, () => called.commit(writes))),
    transaction: (work, until) => around(signal, () => called.transaction(work, until)),
    advice: () => ({ ...called.advice(), records: RECORDS_PER_COMMIT }),
  }));
  return {
    store,
    begin: (observe) => {
      onCommit = observe;
    },
    end: () => {
      onCommit = undefined;
    },
  };
}

/** Waits until a call ends, and throws its reason. */
async function endOf(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  signal.throwIfAborted();
}
