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
const { reason, params } = importWarning.shape;
const countedEntry = leftToDoEntry.extend({ further: countSchema.optional(), reason, params });

const notice = z.strictObject({ type: z.string(), id: z.string().optional(), message: z.string(), reason, params });

/** The schema of a side of a migration, as it was when the migration ended. */
const migrationSide = z.strictObject({
  /** The place's name. */
  place: z.string(),
  /** The kind of the place: `instance`, `zitadel`, `database`, `file` or `object`. */
  kind: z.string(),
  /** The release of the server, if known. */
  version: z.string().optional(),
  /** The instance's name, if known. */
  instance: z.string().optional(),
  /** The roles of the token's user in the instance, if there is a token. */
  roles: z.array(z.string()).optional(),
  /** The digest of the migrated organisations' records on this side, as manifests have it. */
  digest: z.string().optional(),
  readAt: timestamp.optional(),
  /** Of a file or an object. */
  bytes: countSchema.optional(),
  generation: z.string().optional(),
  crc32c: z.string().optional(),
});

export type MigrationSide = z.infer<typeof migrationSide>;

/** Counts of records that both sides have. Expected differences are not in `different`. */
const ofBothSides = { equal: countSchema, different: countSchema, differentAsExpected: countSchema };
const organisationCounts = z.strictObject({ absent: countSchema, ...ofBothSides, onlyTarget: countSchema });

export type OrganisationCounts = z.infer<typeof organisationCounts>;

const movedOrganisation = z.strictObject({
  orgId: z.string(),
  name: z.string(),
  /** People among the records. */
  people: countSchema,
  /** Records in the source, including the organisation itself. */
  records: countSchema,
  /** The comparison with the target before the migration. */
  before: organisationCounts,
  /** The comparison with the target after the migration. */
  after: organisationCounts,
});

/** The schema of a phase of a migration. */
export const migrationPhase = z.strictObject({
  /** The name, such as `exporting`. The figures of a repeated phase are those of the last attempt. */
  phase: z.string(),
  startedAt: timestamp,
  seconds: z.number(),
  records: countSchema,
  /** Present in a phase that is measured in bytes. */
  bytes: countSchema.exactOptional(),
  /** The records that existed with equal content, including those of earlier attempts. */
  unchanged: countSchema,
  /** The speed of the others. */
  perSecond: z.number(),
  succeeded: z.boolean(),
});

const differingField = z.strictObject({
  path: z.string(),
  /** The values as JSON text, cut; absent without a value, and for secrets, which are never shown. */
  source: z.string().optional(),
  target: z.string().optional(),
  /** The difference of a secret. */
  secret: z.string().optional(),
});
const difference = z.strictObject({
  outcome: z.enum(['different', 'onlySource', 'onlyTarget']),
  section: z.string(),
  orgId: z.string(),
  id: z.string(),
  /** The names of the record and its organisation, if any. */
  name: z.string().optional(),
  orgName: z.string().optional(),
  fields: z.array(differingField),
  /** Present if another record of this side with the same id was compared instead. */
  isRepeat: z.literal(true).optional(),
  /** The reason of an expected difference; absent for an unexpected one. */
  reason: z.string().optional(),
  /** The reason why an organisation that only the target has must have come from the source. */
  evidence: z.string().optional(),
});

const migrationProof = z.strictObject({
  /** Field by field; or by size and checksum if the target cannot be read. */
  method: z.enum(['fields', 'checksum']),
  provedAt: timestamp,
  /** The method in a sentence. */
  description: z.string(),
  /** Numbers of records by section; none after a proof by checksum. */
  sections: z.record(z.string(), z.strictObject({ ...ofBothSides, onlySource: countSchema, onlyTarget: countSchema })),
  /** Numbers of all differing records. */
  expected: countSchema,
  unexpected: countSchema,
  /** The first differences; unexpected ones precede expected ones. */
  differences: z.array(difference),
  /** The organisations that only the target has, of which nothing shows that they came from the source. */
  others: z.strictObject({
    count: countSchema,
    /** The first of them. */
    organisations: z.array(z.strictObject({ orgId: z.string(), name: z.string() })),
  }),
  /** Whether the source is unchanged since the export; absent if unknown. */
  sourceUnchanged: z.boolean().optional(),
});

/** The people whose credentials are equal in source and target; absent if the target is a file or an object. */
const credentialSummary = z.strictObject({
  people: countSchema,
  /** People with a password in the source. */
  withPassword: countSchema,
  /**
   * Those with the same hash, the same counted second factors and the same state, in an organisation with the same state. In
   * a ZITADEL: active people with a hash that it verifies by default.
   */
  kept: countSchema,
  /** The counted second factors: those that the export contains. */
  secondFactors: z.enum(['all', 'otp', 'totp', 'none']),
  /** The others by reason: their number, and the names of the first ones. */
  others: z.array(z.strictObject({ reason: z.string(), count: countSchema, names: z.array(z.string()) })),
});

export type CredentialSummary = z.infer<typeof credentialSummary>;

const concernedPerson = z.strictObject({
  id: z.string(),
  orgId: z.string(),
  userName: z.string(),
  name: z.string(),
  /** The e-mail address. */
  address: z.string(),
  /** The errors and manual steps. */
  reasons: z.array(z.string()),
});

/** A person whom errors or manual steps are about. */
export type ConcernedPerson = z.infer<typeof concernedPerson>;

/** The schema of a migration's result, which `result.json` contains and the report shows. */
export const migrationResult = z.strictObject({
  version: z.literal(1),
  /** `done` without unexpected differences and errors, `failed` if records are in wrong organisations, otherwise `listed`. */
  outcome: z.enum(['done', 'listed', 'failed']),
  /** The records that ZITADEL wrote into an organisation other than the source's; absent if there are none. */
  elsewhere: z.array(notice).optional(),
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
  /** Excluded organisations of the source, each with the reason. */
  leftOut: z.array(z.strictObject({ orgId: z.string(), reason: z.string() })),
  /** The first organisations; `organisationsOmitted` counts the others. */
  organisations: z.array(movedOrganisation),
  organisationsOmitted: countSchema,
  moved: z.strictObject({
    organisations: countSchema,
    records: countSchema,
    /** Numbers of exported records by section. */
    exported: countsSchema,
    /** The outcomes of the import; absent if the target is a file or an object. */
    imported: z
      .strictObject({
        created: countsSchema,
        unchanged: countsSchema,
        overwritten: countsSchema,
        skipped: countsSchema,
        failed: countsSchema,
        notCarried: countsSchema,
        unconfirmed: countsSchema.optional(),
      })
      .optional(),
  }),
  phases: z.array(migrationPhase),
  /** The times at which the migration was resumed. */
  resumedAt: z.array(timestamp),
  errors: z.array(notice),
  errorsOmitted: countSchema,
  warnings: z.array(notice),
  warningsOmitted: countSchema,
  leftToDo: z.array(countedEntry),
  leftToDoOmitted: countSchema,
  /** All people whom errors and manual steps are about. */
  people: z.array(concernedPerson),
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

/** A person whose factors, password or state in the target would be overwritten. */
export type UndonePerson = z.infer<typeof undonePerson>;

/** The schema of a migration's plan, which `plan.json` contains. */
export const migrationPlan = z.strictObject({
  source: migrationSide,
  target: migrationSide,
  /** The checks of the places: sentences without a full stop. */
  checks: z.array(z.strictObject({ status: z.enum(['ok', 'warning']), message: z.string() })),
  /** Excluded organisations, each with the reason. */
  leftOut: migrationResult.shape.leftOut,
  organisations: z.array(
    movedOrganisation.omit({ after: true }).extend({
      /** The digest of the records, which differs between two plans if a record has changed. */
      digest: z.string(),
    }),
  ),
  organisationsOmitted: countSchema,
  sections: z.record(z.string(), countSchema),
  /** The comparison with the target. */
  before: organisationCounts,
  /** The handling of records that exist with other content. */
  onConflict: migrationResult.shape.options.shape.onConflict,
  /** The size of the export's JSON. */
  bytes: countSchema,
  /** The selected secrets, and the number of each kind in the export. */
  secrets: z.strictObject({ selected: z.array(z.string()), found: z.record(z.string(), countSchema) }),
  hashFormats: z.record(z.string(), countSchema),
  /** The people whose credentials will be equal if all records arrive. */
  credentials: credentialSummary.optional(),
  /** The people whose changes in the target would be overwritten. */
  undone: z.array(undonePerson),
  undoneOmitted: countSchema,
  /** The errors and warnings of the target's dry run. */
  refused: z.array(notice),
  refusedOmitted: countSchema,
  warnings: z.array(notice),
  warningsOmitted: countSchema,
  /** The content that does not move, the changes by the target, and the manual steps. */
  losses: z.array(z.string()),
  changes: z.array(z.string()),
  leftToDo: z.array(countedEntry),
  leftToDoOmitted: countSchema,
  people: migrationResult.shape.people,
});

export type MigrationPlan = z.infer<typeof migrationPlan>;
