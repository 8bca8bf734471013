/** Runs work one at a time, in the order in which it was handed over. */
export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a queue of its own; work that fails does not hold up the rest. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
