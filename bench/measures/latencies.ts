import type { functions } from '../../functions/endpoints.ts';
import { type Figure, type Measure, ratioFigure } from '../measure.ts';
import { coldStart } from '../scenarios/coldStart.ts';
import { firestoreRemoval } from '../scenarios/firestoreRemoval.ts';
import { besideBulk, removals } from '../scenarios/removals.ts';

/** The most that a function's start may take of the empty function's, as the goal and as accepted. */
const startGoals: Readonly<Record<keyof typeof functions, { goal: number; accepted: number }>> = {
  removeOtpEmail: { goal: 1.25, accepted: 1.5 },
  export: { goal: 1.25, accepted: 1.6 },
  import: { goal: 1.25, accepted: 2 },
};
const startReason =
  "a function loads its schemas before the first request; an import's are ZITADEL's messages and their rules, a third of its start";
const removalReason =
  'it checks the restriction of the token and puts the removal on record, for a tenth of a millisecond';
const p99Reason = "ten calls of a round decide it, so that single pauses of the emulator's process show";

/** The measures of removals and of starts. */
export const latencies: readonly Measure[] = [
  {
    name: 'removals',
    title: 'removals, embedded',
    compared: 'DELETE requests over keep-alive connections to `identity serve`, with its audit trail and log',
    scenario: removals,
    figures: [
      { name: 'rate1', title: '1 connection', unit: 'removals/s', goal: { least: 1_400 } },
      { name: 'rate32', title: '32 connections', unit: 'removals/s', goal: { least: 6_000 } },
      { name: 'rate128', title: '128 connections', unit: 'removals/s', goal: { least: 6_000 } },
      { name: 'p99At1', title: '1 connection, p99', unit: 'ms' },
      { name: 'p99At32', title: '32 connections, p99', unit: 'ms', goal: { most: 20 } },
      { name: 'p99At128', title: '128 connections, p99', unit: 'ms' },
    ],
  },
  {
    name: 'removals-beside-bulk',
    title: 'removals beside bulk work',
    compared:
      '100 removals a second at fixed times beside an import and an export of all users, and that import against one alone',
    scenario: besideBulk,
    figures: [
      { name: 'p99', title: 'removals, p99', unit: 'ms', goal: { most: 50 } },
      { name: 'p50', title: 'removals, median', unit: 'ms' },
      ratioFigure('importRatio', "the import's time, of that alone", { most: 1.5 }),
      { name: 'besideRate', title: 'import beside them', unit: 'users/s' },
      { name: 'aloneRate', title: 'import alone', unit: 'users/s' },
    ],
  },
  {
    name: 'removal-firestore',
    title: 'removal, Firestore emulator',
    compared:
      "the operation on the user's own factor, against a raw read and a write on the condition that nothing has changed",
    scenario: firestoreRemoval,
    figures: [
      ratioFigure(
        'medianRatio',
        'median, of the raw calls',
        { most: 1.15 },
        { bound: { most: 1.3 }, reason: removalReason },
      ),
      ratioFigure('p99Ratio', 'p99, of the raw calls', { most: 1.3 }, { bound: { most: 2 }, reason: p99Reason }),
      { name: 'median', title: 'median', unit: 'ms' },
      { name: 'rawMedian', title: 'raw calls, median', unit: 'ms' },
      { name: 'p99', title: 'p99', unit: 'ms' },
      { name: 'rawP99', title: 'raw calls, p99', unit: 'ms' },
    ],
  },
  {
    name: 'cold-start',
    title: 'cold start',
    compared:
      "all processors' time to the first response of each built function, against an empty one on Hono and functions-framework that creates a client of Firestore",
    scenario: coldStart,
    figures: [
      ...Object.entries(startGoals).flatMap(([name, { goal, accepted }]): Figure[] => [
        ratioFigure(
          `${name}Ratio`,
          `${name}, of the empty function`,
          { most: goal },
          { bound: { most: accepted }, reason: startReason },
        ),
        { name, title: name, unit: 'ms' },
      ]),
      { name: 'empty', title: 'empty function', unit: 'ms' },
    ],
  },
];
