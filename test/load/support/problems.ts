import type { Flatness } from './flatness.ts';
import { type ObservedLoad, REQUESTS_PER_RESENT, tolerances } from './loadResult.ts';

/** The log's lines that a message quotes. */
const QUOTED_LINES = 10;

/** Lists what fails a run; nothing if it is as it should be. */
export function findProblems(observed: ObservedLoad): readonly string[] {
  const { kinds, rss, descriptors, descriptorsAround, resent, left, exitCode, unaskedLines } = observed;
  const [before, after] = descriptorsAround;
  return [
    ...kinds.flatMap(({ name, problems, examples }) =>
      problems === 0 ? [] : [`${problems} of "${name}":`, ...examples],
    ),
    ...describeGrowth('the memory', rss),
    ...describeGrowth('the number of descriptors', descriptors),
    ...list(after > before + tolerances.descriptors.amount, `${after} descriptors are open, and were ${before}`),
    ...list(resent > mostResent(kinds), `${resent} requests met a closed connection`),
    ...list(left.connections > 0, `${left.connections} connections are left`),
    ...list(left.requests > 0, `${left.requests} requests are in flight after the end`),
    ...list(exitCode !== 0, `the server ended with ${exitCode}`),
    ...list(unaskedLines.length > 0, `the log has ${unaskedLines.length} lines:`),
    ...unaskedLines.slice(0, QUOTED_LINES),
  ];
}

function mostResent(kinds: ObservedLoad['kinds']): number {
  const requests = kinds.reduce((sum, { count }) => sum + count, 0);
  return Math.ceil(requests / REQUESTS_PER_RESENT);
}

function describeGrowth(what: string, { middle, last, isFlat }: Flatness): readonly string[] {
  return list(!isFlat, `${what} grows: ${middle} in the middle third, ${last} in the last one`);
}

function list(isProblem: boolean, text: string): readonly string[] {
  return isProblem ? [text] : [];
}
