// The schemas of a migration's plan and result.

import { z } from 'zod';
import { importWarning } from '../../functions/import/contract.ts';
import { leftToDoEntry } from '../../shared/exportFile/leftToDo.ts';
import { shownSettings } from './settings.ts';

const countSchema = z.int().nonnegative();
/** Numbers of records by section, without zeros. */
const countsSchema = z.record(z.string(), countSchema);
/** The schema of a moment, in ISO 8601. */
export const timestamp = z.iso.datetime();
const reason = importWarning.shape.reason;
const countedEntry = leftToDoEntry.extend({ further: countSchema.optional(), reason });

const notice = z.strictObject({ type: z.string(), id: z.string().optional(), message: z.string() });
const warning = notice.extend({ reason });

/** The schema of a side of a migration, as it was when the migration ended. */
const migrationSide = z.strictObject({
  /** The place, as the call names it. */
  place: z.string(),
  /** What the place is, such as `instance`, `zitadel`, `database`, `file` or `object`. */
  kind: z.string(),
  /** The release of what answers there, where it says one. */
  version: z.string().optional(),
  /** The instance's name, where it says one. */
  instance: z.string().optional(),
  /** The digest of the migrated organisations' records on this side, as manifests have it. */
  digest: z.string().optional(),
  readAt: timestamp.optional(),
  /** Of a file or an object. */
  bytes: countSchema.optional(),
  generation: z.string().optional(),
  crc32c: z.string().optional(),
});

export type MigrationSide = z.infer<typeof migrationSide>;

/** Records that both sides have and that differ as they should are not among the `different` ones. */
const ofBothSides = { equal: countSchema, different: countSchema, differentAsExpected: countSchema };
const organisationCounts = z.strictObject({ absent: countSchema, ...ofBothSides, onlyTarget: countSchema });

export type OrganisationCounts = z.infer<typeof organisationCounts>;

const movedOrganisation = z.strictObject({
  orgId: z.string(),
  name: z.string(),
  /** People among the records. */
  people: countSchema,
  /** Records that the source has, with that of the organisation itself. */
  records: countSchema,
  /** What the plan found on the target before. */
  before: organisationCounts,
  /** What the proof found on the target afterwards. */
  after: organisationCounts,
});

/** The schema of a phase of a migration. */
export const migrationPhase = z.strictObject({
  /** What was done, such as `exporting`. Of what was repeated after an interruption, the figures are the last attempt's. */
  phase: z.string(),
  startedAt: timestamp,
  seconds: z.number(),
  records: countSchema,
  /** How many of the records existed with equal content, also from earlier attempts. */
  unchanged: countSchema,
  /** The speed of the others. */
  perSecond: z.number(),
  succeeded: z.boolean(),
});

const differingField = z.strictObject({
  path: z.string(),
  /** The values as JSON text, cut; absent where a side has none, and for secrets, which are never shown. */
  source: z.string().optional(),
  target: z.string().optional(),
  /** Of a secret: how the sides differ. */
  secret: z.string().optional(),
});
const difference = z.strictObject({
  outcome: z.enum(['different', 'onlySource', 'onlyTarget']),
  section: z.string(),
  orgId: z.string(),
  id: z.string(),
  /** What people call the record and its organisation, where they have names. */
  name: z.string().optional(),
  orgName: z.string().optional(),
  fields: z.array(differingField),
  /** Present where another record of its side with the same id is compared instead. */
  isRepeat: z.literal(true).optional(),
  /** Why this is as it should be; absent in a difference that should not be. */
  reason: z.string().optional(),
});

const migrationProof = z.strictObject({
  /** Field by field; or by size and checksum, where the target's content cannot be read. */
  method: z.enum(['fields', 'checksum']),
  provedAt: timestamp,
  /** What a person reads of the method. */
  description: z.string(),
  /** Numbers of records by section; none after a proof by checksum. */
  sections: z.record(z.string(), z.strictObject({ ...ofBothSides, onlySource: countSchema, onlyTarget: countSchema })),
  /** Numbers of all differing records. */
  expected: countSchema,
  unexpected: countSchema,
  /** The first of them: those that should not be before those that should. */
  differences: z.array(difference),
  /** Whether the source is still as it was exported; absent where that cannot be known. */
  sourceUnchanged: z.boolean().optional(),
});

/** Whose password and second factors the target has as the source has them; absent where it is a file or an object. */
const credentialSummary = z.strictObject({
  people: countSchema,
  /** People with a password in the source. */
  withPassword: countSchema,
  /**
   * Those with the same hash, the same second factors, as far as these count, and the same state, of an organisation in
   * the same state. In a ZITADEL: those who are active, with a hash that it verifies by default.
   */
  kept: countSchema,
  /** The second factors that count: those of which the export tells who has them. */
  secondFactors: z.enum(['all', 'totp', 'none']),
  /** Why the others do not count: how many they are, and the names of the first ones. */
  others: z.array(z.strictObject({ reason: z.string(), count: countSchema, names: z.array(z.string()) })),
});

export type CredentialSummary = z.infer<typeof credentialSummary>;

/** The schema of a migration's result, which `result.json` holds and the report shows. */
export const migrationResult = z.strictObject({
  version: z.literal(1),
  /** `done` without unexpected differences and errors, otherwise `listed`. */
  outcome: z.enum(['done', 'listed']),
  /** The release of the command. */
  command: z.string(),
  startedAt: timestamp,
  finishedAt: timestamp,
  source: migrationSide,
  target: migrationSide,
  options: z.strictObject({
    ...shownSettings.shape,
    /** Some of `passwords`, `otp` and `keys`. */
    secrets: z.array(z.string()),
  }),
  /** Organisations of the source that were left out, each with the reason. */
  leftOut: z.array(z.strictObject({ orgId: z.string(), reason: z.string() })),
  /** The first organisations, and the number of further ones. */
  organisations: z.array(movedOrganisation),
  organisationsOmitted: countSchema,
  moved: z.strictObject({
    organisations: countSchema,
    records: countSchema,
    /** Numbers of exported records by section. */
    exported: countsSchema,
    /** What an import has done with them; absent where the target is a file or an object. */
    imported: z
      .strictObject({
        created: countsSchema,
        unchanged: countsSchema,
        overwritten: countsSchema,
        skipped: countsSchema,
        failed: countsSchema,
        notCarried: countsSchema,
      })
      .optional(),
  }),
  phases: z.array(migrationPhase),
  /** When the work was taken up again after an interruption. */
  resumedAt: z.array(timestamp),
  errors: z.array(notice),
  errorsOmitted: countSchema,
  warnings: z.array(warning),
  warningsOmitted: countSchema,
  leftToDo: z.array(countedEntry),
  leftToDoOmitted: countSchema,
  proof: migrationProof,
  credentials: credentialSummary.optional(),
});

export type MigrationResult = z.infer<typeof migrationResult>;

const undonePerson = z.strictObject({
  orgId: z.string(),
  id: z.string(),
  name: z.string(),
  /** Phrases such as `gets back the OTP e-mail factor`. */
  changes: z.array(z.string()),
});

/** A person whose factors, password or state in the target an overwrite replaces. */
export type UndonePerson = z.infer<typeof undonePerson>;

/** The schema of a plan: what a migration would do, tried and measured. It is `plan.json` of the run directory. */
export const migrationPlan = z.strictObject({
  source: migrationSide,
  target: migrationSide,
  /** What was found out about the places: each a sentence without a stop. */
  checks: z.array(z.strictObject({ status: z.enum(['ok', 'warning']), message: z.string() })),
  /** Organisations that do not move, each with the reason. */
  leftOut: migrationResult.shape.leftOut,
  organisations: z.array(
    movedOrganisation.omit({ after: true }).extend({
      /** The digest of the records, which differs between two plans if a record has changed. */
      digest: z.string(),
    }),
  ),
  organisationsOmitted: countSchema,
  sections: z.record(z.string(), countSchema),
  /** What the target has of them. */
  before: organisationCounts,
  /** What becomes of records that exist with other content. */
  onConflict: migrationResult.shape.options.shape.onConflict,
  /** The size of the export's JSON. */
  bytes: countSchema,
  /** The secrets that travel, and how many of each kind the export holds. */
  secrets: z.strictObject({ selected: z.array(z.string()), found: z.record(z.string(), countSchema) }),
  hashFormats: z.record(z.string(), countSchema),
  /** Whose credentials the target will have, if all arrive. */
  credentials: credentialSummary.optional(),
  /** The people whom an overwrite gives back what the target has changed. */
  undone: z.array(undonePerson),
  undoneOmitted: countSchema,
  /** What the target's dry run refuses, and warns of. */
  refused: z.array(notice),
  refusedOmitted: countSchema,
  warnings: z.array(warning),
  warningsOmitted: countSchema,
  /** What does not travel, what the target does otherwise, and what remains to be done by hand. */
  losses: z.array(z.string()),
  changes: z.array(z.string()),
  leftToDo: z.array(countedEntry),
  leftToDoOmitted: countSchema,
});

export type MigrationPlan = z.infer<typeof migrationPlan>;
