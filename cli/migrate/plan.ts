import { z } from 'zod';
import { leftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import { migrationResult, migrationSide, notice } from './result.ts';

const count = z.int().nonnegative();
const { organisations, leftOut } = migrationResult.shape;

/** The schema of a plan: what a migration would do, tried and measured. It is `plan.json` of the run directory. */
export const migrationPlan = z.strictObject({
  source: migrationSide,
  target: migrationSide,
  /** What was found out about the places: each a sentence without a stop. */
  checks: z.array(z.strictObject({ status: z.enum(['ok', 'warning']), message: z.string() })),
  /** Organisations that do not move, each with the reason. */
  leftOut,
  organisations: z.array(organisations.element.omit({ after: true })),
  organisationsOmitted: count,
  /** Numbers of records by section. */
  sections: z.record(z.string(), count),
  /** What becomes of records that exist with other content, and how many there are. */
  onConflict: migrationResult.shape.options.shape.onConflict,
  different: count,
  /** The size of the export's JSON. */
  bytes: count,
  /** The secrets that travel, and how many of each kind the export holds. */
  secrets: z.strictObject({ selected: z.array(z.string()), found: z.record(z.string(), count) }),
  hashFormats: z.record(z.string(), count),
  /** What the target's dry run refuses, and warns of. */
  refused: z.array(notice),
  refusedOmitted: count,
  warnings: z.array(notice),
  warningsOmitted: count,
  /** What does not travel, what the target does otherwise, and what remains to be done by hand. */
  losses: z.array(z.string()),
  changes: z.array(z.string()),
  leftToDo: z.array(leftToDoEntry),
  leftToDoOmitted: count,
  /** The requests that the work takes, and the seconds that it may take, by what was measured. */
  work: z.strictObject({
    requests: z.array(z.string()),
    seconds: z.number(),
    perSecond: z.number(),
    measuredBy: z.string(),
  }),
});

/** What a migration would do. */
export type MigrationPlan = z.infer<typeof migrationPlan>;

/** The numbers of an organisation's records by how both sides stand to each other. */
export type OrganisationCounts = MigrationPlan['organisations'][number]['before'];
