/** Milliseconds between two checks. With the check's own time, the caller is checked at least every five seconds. */
const INTERVAL_MS = 3_000;

/**
 * Checks a caller's authorisation again and again while a long call runs, until it is disposed of.
 * @param check throws when the caller is no longer authorised, or when the database cannot tell
 * @param end receives that error, once, to end the call
 */
export function watchAuthorisation(check: () => Promise<unknown>, end: (error: unknown) => void): Disposable {
  let isDisposed = false;
  const checkAgain = async () => {
    try {
      await check();
      if (!isDisposed) timer = setTimeout(checkAgain, INTERVAL_MS);
    } catch (error) {
      if (!isDisposed) end(error);
    }
  };
  let timer = setTimeout(checkAgain, INTERVAL_MS);
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
    },
  };
}
