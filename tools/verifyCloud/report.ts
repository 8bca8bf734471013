import { fill, type Values } from './action.ts';
import type { Outcome } from './session.ts';

/** The exit codes, beside those of signals: a contradiction is less than a failure. */
const [SUCCESS, FAILURE, CONTRADICTION] = [0, 1, 3];

const LEFT =
  'left in the project, to be removed by hand in this order, and then WORK, which holds tokens, keys and the configuration:';

/** Returns the exit code of a run. */
export function exitCode({ findings, failures, left }: Outcome): number {
  if (failures.length > 0 || left.length > 0) return FAILURE;
  return findings.some(({ verdict }) => verdict === 'contradicts') ? CONTRADICTION : SUCCESS;
}

/** Describes the end of a run: what contradicts, what failed, and what is left in the project. */
export function reportRun({ findings, failures, isComplete, left }: Outcome, values: Values): string {
  const contradictions = findings.filter(({ verdict }) => verdict === 'contradicts');
  const lines = [
    ...contradictions.map(({ statement, expected, observed }) => `contradicts ${statement}: ${expected}; ${observed}`),
    ...failures.map((failure) => `failed: ${failure}`),
    ...(isComplete ? ['the findings are in docs/cloud-findings.md'] : []),
    ...(left.length === 0 ? [] : [LEFT, ...left]),
    fill(
      'what Google keeps, such as backups, logs and sources, goes with the project: gcloud projects delete $PROJECT',
      values,
    ),
  ];
  return lines.join('\n');
}
