// The plan and the result of a migration.

import type { ImportRequestOptions, ImportWarning } from '../../functions/import/contract.ts';
import type { Counts } from '../../shared/collections/counts.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { OutcomeCounts } from '../exports/importOutcomes.ts';
import type { MirrorDeletions } from '../exports/mirrorDeletions.ts';
import type { AcceptableLoss } from '../exports/placeInterfaces.ts';
import type { Notice } from '../terminal/notices.ts';
import type { PhaseState } from '../terminal/progress.ts';

/** The maximum number of differences and people in a list of a plan or a result. The limit keeps memory constant. */
export const MAX_LISTED = 100_000;

/** A side of a migration. */
export interface MigrationSide {
  /** The place's name. */
  readonly place: string;
  /** The kind of the place: `instance`, `zitadel`, `database`, `file` or `object`. */
  readonly kind: string;
  /** The release of the server that serves the place, if known. */
  readonly version?: string;
  /** The name of the instance, if known. */
  readonly instance?: string;
  /** The roles of the token's user in the instance, if there is a token. */
  readonly roles?: readonly string[];
  /** The size of a stored file or object. */
  readonly bytes?: number;
  readonly generation?: string;
  readonly crc32c?: string;
}

/** Counts of the records that both sides have. `different` excludes expected differences. */
interface CountsOfBoth {
  readonly equal: number;
  readonly different: number;
  readonly differentAsExpected: number;
}

/** Counts of an organisation's records, compared with the target. */
export interface OrganisationCounts extends CountsOfBoth {
  readonly absent: number;
  readonly onlyTarget: number;
}

/** An organisation that moves. */
interface PlannedOrganisation {
  readonly orgId: string;
  readonly name: string;
  /** The number of people among the records. */
  readonly people: number;
  /** The number of records in the source, including the organisation itself. */
  readonly records: number;
  /** The comparison with the target before the migration. */
  readonly before: OrganisationCounts;
}

/** An organisation that has moved. */
interface MovedOrganisation extends PlannedOrganisation {
  /** The comparison with the target after the migration. */
  readonly after: OrganisationCounts;
}

/** A phase of a migration. A repeated phase has the figures of its last attempt. */
export interface MigrationPhase extends Omit<PhaseState, 'secondsLeft' | 'fraction' | 'isEnding'> {
  readonly succeeded: boolean;
}

/** A record that differs. */
interface MigrationDifference {
  readonly outcome: 'different' | 'onlySource' | 'onlyTarget';
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  /** The names of the record and of its organisation, if they have names. */
  readonly name?: string;
  readonly orgName?: string | undefined;
  /**
   * The differing fields, with values as truncated JSON text. A value is absent if the side lacks the field or the
   * field is a secret.
   */
  readonly fields: readonly {
    readonly path: string;
    readonly source?: string | undefined;
    readonly target?: string | undefined;
    /** How a secret differs, as a phrase without the secret's values. */
    readonly secret?: string | undefined;
  }[];
  /** Present if the side has several records with this id and the comparison used another record with the id. */
  readonly isRepeat?: true;
  /** The reason of an expected difference. Absent for an unexpected difference. */
  readonly reason?: string;
  /** Why an organisation must have come from the source although only the target has it. */
  readonly evidence?: string;
}

/** The proof of a migration. */
interface MigrationProof {
  /** The proof compares field by field. If the command cannot read the target, it compares size and checksum. */
  readonly method: 'fields' | 'checksum';
  readonly provedAt: string;
  /** A sentence that describes the method. */
  readonly description: string;
  /** Numbers of records by section. Empty after a proof by checksum. */
  readonly sections: Readonly<
    Record<string, CountsOfBoth & { readonly onlySource: number; readonly onlyTarget: number }>
  >;
  /** The number of all expected differences. */
  readonly expected: number;
  readonly unexpected: number;
  /** The first differences. Unexpected differences come first. */
  readonly differences: readonly MigrationDifference[];
  readonly differencesOmitted: number;
  /** Organisations that only the target has. No evidence shows that they came from the source. */
  readonly others: readonly { readonly orgId: string; readonly name: string }[];
  /** Whether the source is unchanged since the export; absent if unknown. */
  readonly sourceUnchanged?: boolean;
}

/** Counts of the people whose credentials are equal in source and target. */
export interface CredentialSummary {
  readonly people: number;
  /** The number of people with a password in the source. */
  readonly withPassword: number;
  /**
   * The number of people with equal hashes, compared second factors and states, in an organisation with an equal state.
   * If the target is ZITADEL, counts only active people whose hash ZITADEL verifies by default.
   */
  readonly kept: number;
  /** The second factors that the export contains. Only these are compared. */
  readonly secondFactors: 'all' | 'otp' | 'totp' | 'none';
  /** All other people, by reason: their number, and the names of the first people. */
  readonly others: readonly { readonly reason: string; readonly count: number; readonly names: readonly string[] }[];
}

/** A person whom errors or manual steps concern. */
export interface ConcernedPerson {
  readonly id: string;
  readonly orgId: string;
  readonly userName: string;
  readonly name: string;
  readonly address: string;
  /** Texts of the errors and manual steps. */
  readonly reasons: readonly string[];
}

/** A person whose factors, password or state changed in the target. The migration would overwrite these changes. */
export interface UndonePerson {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  /** Phrases such as `gets back the OTP e-mail factor`. */
  readonly changes: readonly string[];
}

/** A manual step after a migration. */
export interface ManualStep {
  readonly what: string;
  readonly command?: string;
}

/** The options that a result contains. */
export interface ShownOptions extends Pick<ImportRequestOptions, 'onConflict' | 'orgIds' | 'excludedOrgIds'> {
  readonly accepted: readonly AcceptableLoss[];
  /**
   * Whether the target deletes records that the source does not have. `replaceChanged` extends the deletions to
   * organisations that changed in the target.
   */
  readonly mirror?: true;
  readonly replaceChanged?: readonly string[];
  /** Some of `passwords`, `otp` and `keys`. */
  readonly secrets: readonly string[];
}

/** Lists that a plan and a result both contain. Without `--mirror`, there are no deletions. */
interface Listed extends Partial<MirrorDeletions> {
  readonly source: MigrationSide;
  readonly target: MigrationSide;
  /** Excluded organisations of the source, each with the reason. */
  readonly leftOut: readonly { readonly orgId: string; readonly reason: string }[];
  readonly warnings: readonly (ImportWarning | Notice)[];
  readonly warningsOmitted: number;
  readonly leftToDo: readonly CountedEntry[];
  readonly leftToDoOmitted: number;
  /** All people whom errors and manual steps concern. */
  readonly people: readonly ConcernedPerson[];
  /** Absent if the target is a file or an object. */
  readonly credentials?: CredentialSummary | undefined;
}

/** The result of a migration. */
export interface MigrationResult extends Listed {
  /**
   * `failed` if records are in wrong organisations, `done` without unexpected differences and errors, otherwise
   * `listed`.
   */
  readonly outcome: 'done' | 'listed' | 'failed';
  /** Records that ZITADEL wrote into the wrong organisation. Absent if there are none. */
  readonly elsewhere?: readonly Notice[];
  /** The release of the command. */
  readonly command: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /**
   * When the migration began to read the source, and when it found the target equal. The source must not change in
   * between. Absent if the target differs, or if the time is unknown, as for a file without a manifest.
   */
  readonly sourceReadAt?: string;
  readonly targetEqualAt?: string;
  readonly options: ShownOptions;
  readonly organisations: readonly MovedOrganisation[];
  readonly moved: {
    readonly organisations: number;
    readonly records: number;
    /** Numbers of exported records by section. */
    readonly exported: Readonly<Counts>;
    /** The outcomes of the import; absent if the target is a file or an object. */
    readonly imported?: OutcomeCounts;
  };
  readonly phases: readonly MigrationPhase[];
  readonly errors: readonly Notice[];
  readonly errorsOmitted: number;
  readonly proof: MigrationProof;
  readonly byHand: readonly ManualStep[];
  /** The steps that undo the migration of the moved organisations. */
  readonly takeBack: readonly ManualStep[];
}

/** The plan of a migration. */
export interface MigrationPlan extends Listed {
  /** The checks of the places. Messages are sentences without a full stop. */
  readonly checks: readonly { readonly status: 'ok' | 'warning'; readonly message: string }[];
  readonly organisations: readonly PlannedOrganisation[];
  readonly sections: Readonly<Counts>;
  /** The comparison with the target. */
  readonly before: OrganisationCounts;
  readonly options: ShownOptions;
  /** The size of the export's JSON. */
  readonly bytes: number;
  /** The selected kinds of secrets, and the number of secrets of each kind in the export. */
  readonly secrets: { readonly selected: readonly string[]; readonly found: Readonly<Counts> };
  readonly hashFormats: Readonly<Counts>;
  /** People whose changes in the target the migration would overwrite. */
  readonly undone: readonly UndonePerson[];
  readonly undoneOmitted: number;
  /** The errors of the target's dry run. */
  readonly refused: readonly Notice[];
  readonly refusedOmitted: number;
  /** Descriptions of content that does not move, and of changes that the target makes. */
  readonly losses: readonly string[];
  readonly changes: readonly string[];
}
