import type { ImportRequestOptions, ImportWarning } from '../../functions/import/contract.ts';
import type { Counts } from '../../shared/collections/counts.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { OutcomeCounts } from '../exports/importOutcomes.ts';
import type { MirrorDeletions } from '../exports/mirrorDeletions.ts';
import type { AcceptableLoss } from '../exports/placeInterfaces.ts';
import type { Notice } from '../terminal/notices.ts';
import type { PhaseState } from '../terminal/progress.ts';

/**
 * The maximum number of differences, and of people, that a plan or a result lists. The limit keeps the memory of the
 * command constant.
 */
export const MAX_LISTED = 100_000;

export interface MigrationSide {
  readonly place: string;
  /** The kind of the place: `instance`, `zitadel`, `database`, `file` or `object`. */
  readonly kind: string;
  readonly version?: string;
  readonly instance?: string;
  /** The roles that the token's user has in the instance, if there is a token. */
  readonly roles?: readonly string[];
  /** The size of the file or object that the migration stored. */
  readonly bytes?: number;
  readonly generation?: string;
  readonly crc32c?: string;
}

/** `different` counts only unexpected differences. `differentAsExpected` counts the expected differences. */
interface CountsOfBoth {
  readonly equal: number;
  readonly different: number;
  readonly differentAsExpected: number;
}

/** `absent` counts the records that the target lacks. */
export interface OrganisationCounts extends CountsOfBoth {
  readonly absent: number;
  readonly onlyTarget: number;
}

interface PlannedOrganisation {
  readonly orgId: string;
  readonly name: string;
  readonly people: number;
  /** The number of the organisation's records in the source. The organisation itself counts as a record. */
  readonly records: number;
  readonly before: OrganisationCounts;
}

interface MovedOrganisation extends PlannedOrganisation {
  readonly after: OrganisationCounts;
}

/** A phase of a migration. A repeated phase has the numbers of its last attempt. */
export interface MigrationPhase extends Omit<PhaseState, 'secondsLeft' | 'fraction' | 'isEnding'> {
  readonly succeeded: boolean;
}

interface MigrationDifference {
  readonly outcome: 'different' | 'onlySource' | 'onlyTarget';
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  readonly name?: string;
  readonly orgName?: string | undefined;
  /**
   * The fields that differ, with their values as JSON. Long values are shortened. `source` or `target` is absent if
   * that side does not have the field, or if the field is a secret.
   */
  readonly fields: readonly {
    readonly path: string;
    readonly source?: string | undefined;
    readonly target?: string | undefined;
    /** How a secret differs between the sides, such as `only in the source`. Never contains the secret's value. */
    readonly secret?: string | undefined;
  }[];
  /**
   * Present if an earlier record of the same side has the same id. Only that earlier record was compared with the other
   * side.
   */
  readonly isRepeat?: true;
  /** Why the difference is expected. Absent if the difference is unexpected. */
  readonly reason?: string;
  /** The evidence that the organisation came from the source, although only the target has it. */
  readonly evidence?: string;
}

interface MigrationProof {
  /**
   * How both sides were compared. `fields` means field by field. `checksum` means by size and checksum, because the
   * command cannot read the target.
   */
  readonly method: 'fields' | 'checksum';
  readonly provedAt: string;
  readonly description: string;
  /** The numbers of records by section. Empty after a proof by checksum. */
  readonly sections: Readonly<
    Record<string, CountsOfBoth & { readonly onlySource: number; readonly onlyTarget: number }>
  >;
  /** The number of expected differences, including those that are not listed. */
  readonly expected: number;
  readonly unexpected: number;
  /** The listed differences. Unexpected differences come before expected differences. */
  readonly differences: readonly MigrationDifference[];
  readonly differencesOmitted: number;
  /** Organisations that only the target has, and for which there is no evidence that they came from the source. */
  readonly others: readonly { readonly orgId: string; readonly name: string }[];
  /** True if the source has not changed after the export. Absent if this is unknown. */
  readonly sourceUnchanged?: boolean;
}

export interface CredentialSummary {
  readonly people: number;
  /** The number of people with a password in the source. */
  readonly withPassword: number;
  /**
   * The number of people whose credentials and states are equal on both sides. These are the password hash, the
   * compared second factors, the person's state and the organisation's state. If the target is ZITADEL, counts only
   * active people whose hash ZITADEL verifies with its default settings.
   */
  readonly kept: number;
  /** The kinds of second factors that the export contains. The migration compares only these kinds. */
  readonly secondFactors: 'all' | 'otp' | 'totp' | 'none';
  /**
   * The people whose credentials do not count as equal, grouped by the reason. `names` contains only the first people.
   */
  readonly others: readonly { readonly reason: string; readonly count: number; readonly names: readonly string[] }[];
}

export interface ConcernedPerson {
  readonly id: string;
  readonly orgId: string;
  readonly userName: string;
  readonly name: string;
  readonly address: string;
  readonly reasons: readonly string[];
}

/**
 * A person whose factors, password or state may have been changed in the target. The migration would overwrite these
 * changes.
 */
export interface UndonePerson {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  /** What would happen to the person, in phrases such as `gets back the OTP e-mail factor`. */
  readonly changes: readonly string[];
}

export interface ManualStep {
  readonly what: string;
  readonly command?: string;
}

export interface ShownOptions extends Pick<ImportRequestOptions, 'onConflict' | 'orgIds' | 'excludedOrgIds'> {
  readonly accepted: readonly AcceptableLoss[];
  /**
   * Present if the import deletes records that the source does not have. Such an import refuses organisations that were
   * changed in the target, except the organisations in `replaceChanged`.
   */
  readonly mirror?: true;
  readonly replaceChanged?: readonly string[];
  /** The kinds of secrets that move: some of `passwords`, `otp` and `keys`. */
  readonly secrets: readonly string[];
}

/** The deletions are absent if the call does not have `--mirror`. */
interface Listed extends Partial<MirrorDeletions> {
  readonly source: MigrationSide;
  readonly target: MigrationSide;
  readonly leftOut: readonly { readonly orgId: string; readonly reason: string }[];
  readonly warnings: readonly (ImportWarning | Notice)[];
  readonly warningsOmitted: number;
  readonly leftToDo: readonly CountedEntry[];
  readonly leftToDoOmitted: number;
  readonly people: readonly ConcernedPerson[];
  /** Absent if the target is a file or an object, because files are not compared. */
  readonly credentials?: CredentialSummary | undefined;
}

export interface MigrationResult extends Listed {
  /**
   * `failed` if ZITADEL wrote records into wrong organisations. Otherwise `listed` if there are errors or unexpected
   * differences. `done` in all other cases.
   */
  readonly outcome: 'done' | 'listed' | 'failed';
  /** Records that ZITADEL wrote into an organisation other than their own. Absent if there are none. */
  readonly elsewhere?: readonly Notice[];
  /** The version of this command. */
  readonly command: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /**
   * `sourceReadAt` is the time when the migration began to read the source. `targetEqualAt` is the time when it found
   * the target equal. The source must not change between these times. `sourceReadAt` is absent if it is unknown, as for
   * a file without a manifest; `targetEqualAt` is absent if the target differs.
   */
  readonly sourceReadAt?: string;
  readonly targetEqualAt?: string;
  readonly options: ShownOptions;
  readonly organisations: readonly MovedOrganisation[];
  readonly moved: {
    readonly organisations: number;
    readonly records: number;
    readonly exported: Readonly<Counts>;
    /** The outcomes of the import. Absent if the target is a file or an object. */
    readonly imported?: OutcomeCounts;
  };
  readonly phases: readonly MigrationPhase[];
  readonly errors: readonly Notice[];
  readonly errorsOmitted: number;
  readonly proof: MigrationProof;
  readonly byHand: readonly ManualStep[];
  /** The steps with which the user can undo the migration. */
  readonly takeBack: readonly ManualStep[];
}

export interface MigrationPlan extends Listed {
  /** A message is a sentence without a full stop. */
  readonly checks: readonly { readonly status: 'ok' | 'warning'; readonly message: string }[];
  readonly organisations: readonly PlannedOrganisation[];
  readonly sections: Readonly<Counts>;
  readonly before: OrganisationCounts;
  readonly options: ShownOptions;
  /** The size of the export's JSON, not compressed. */
  readonly bytes: number;
  readonly secrets: { readonly selected: readonly string[]; readonly found: Readonly<Counts> };
  readonly hashFormats: Readonly<Counts>;
  readonly undone: readonly UndonePerson[];
  readonly undoneOmitted: number;
  /** Errors that the import will report, according to the dry run. */
  readonly refused: readonly Notice[];
  readonly refusedOmitted: number;
  /**
   * `losses` describes content that the migration does not move. `changes` describes content that the target changes.
   */
  readonly losses: readonly string[];
  readonly changes: readonly string[];
}
