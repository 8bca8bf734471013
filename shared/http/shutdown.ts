import { log } from '../log.ts';

/** The signals that end this process. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ends the process with 0 at SIGTERM or SIGINT, once `drain` has resolved with the number of requests that it cut.
 * A second signal ends it at once, with 1.
 */
export function shutDownOnSignals(drain: () => Promise<number>): void {
  let ending = false;
  const end = async (signal: string) => {
    if (ending) process.exit(1);
    ending = true;
    log.shuttingDown(signal);
    log.shutDown(await drain());
    process.exit(0);
  };
  for (const signal of endingSignals) process.on(signal, end);
}
