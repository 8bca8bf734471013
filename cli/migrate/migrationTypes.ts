// The plan and the result of a migration.

import type { ImportRequestOptions, ImportWarning } from '../../functions/import/contract.ts';
import type { Counts } from '../../shared/collections/counts.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { OutcomeCounts } from '../exports/importOutcomes.ts';
import type { MirrorDeletions } from '../exports/mirrorDeletions.ts';
import type { AcceptableLoss } from '../exports/placeInterfaces.ts';
import type { Notice } from '../terminal/notices.ts';
import type { PhaseState } from '../terminal/progress.ts';

/** The number of differing records and people in a list of a plan or a result, so that memory does not grow with them. */
export const MAX_LISTED = 100_000;

/** A side of a migration. */
export interface MigrationSide {
  /** The place's name. */
  readonly place: string;
  /** The kind of the place: `instance`, `zitadel`, `database`, `file` or `object`. */
  readonly kind: string;
  /** The release of the server, if known. */
  readonly version?: string;
  /** The instance's name, if known. */
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

/** A phase of a migration. The figures of a repeated phase are those of the last attempt. */
export interface MigrationPhase extends Omit<PhaseState, 'secondsLeft' | 'fraction' | 'isEnding'> {
  readonly succeeded: boolean;
}

/** A record that differs. */
interface MigrationDifference {
  readonly outcome: 'different' | 'onlySource' | 'onlyTarget';
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  /** The names of the record and its organisation, if any. */
  readonly name?: string;
  readonly orgName?: string | undefined;
  /**
   * The values as JSON text, cut at a limit. Absent for a missing value, and for secrets, whose values never appear.
   */
  readonly fields: readonly {
    readonly path: string;
    readonly source?: string | undefined;
    readonly target?: string | undefined;
    /** The difference of a secret. */
    readonly secret?: string | undefined;
  }[];
  /** Present if the side has several records with this id and the comparison used another of them. */
  readonly isRepeat?: true;
  /** The reason of an expected difference; absent for an unexpected one. */
  readonly reason?: string;
  /** The reason why an organisation that only the target has must have come from the source. */
  readonly evidence?: string;
}

/** The proof of a migration. */
interface MigrationProof {
  /** Field by field, or by size and checksum if the command cannot read the target. */
  readonly method: 'fields' | 'checksum';
  readonly provedAt: string;
  /** A sentence that describes the method. */
  readonly description: string;
  /** Numbers of records by section; none after a proof by checksum. */
  readonly sections: Readonly<
    Record<string, CountsOfBoth & { readonly onlySource: number; readonly onlyTarget: number }>
  >;
  /** The number of all expected differences. */
  readonly expected: number;
  readonly unexpected: number;
  /** The first differences; unexpected ones precede expected ones. */
  readonly differences: readonly MigrationDifference[];
  readonly differencesOmitted: number;
  /** Organisations that only the target has and that have no evidence of an origin in the source. */
  readonly others: readonly { readonly orgId: string; readonly name: string }[];
  /** Whether the source is unchanged since the export; absent if unknown. */
  readonly sourceUnchanged?: boolean;
}

/** The people whose credentials are equal in source and target. */
export interface CredentialSummary {
  readonly people: number;
  /** The number of people with a password in the source. */
  readonly withPassword: number;
  /**
   * The number of people with the same hash, the same counted second factors and the same state, in an organisation
   * with the same state. In ZITADEL: active people with a hash that it verifies by default.
   */
  readonly kept: number;
  /** The counted second factors: those that the export contains. */
  readonly secondFactors: 'all' | 'otp' | 'totp' | 'none';
  /** The people who are not in `kept`, by reason: their number, and the names of the first people. */
  readonly others: readonly { readonly reason: string; readonly count: number; readonly names: readonly string[] }[];
}

/** A person whom errors or manual steps are about. */
export interface ConcernedPerson {
  readonly id: string;
  readonly orgId: string;
  readonly userName: string;
  readonly name: string;
  readonly address: string;
  /** The errors and manual steps. */
  readonly reasons: readonly string[];
}

/** A person whose factors, password or state in the target the migration would overwrite. */
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
   * Whether the target deletes records that the source does not have, even in organisations that changed in the target.
   * Absent if not.
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
  /** All people whom errors and manual steps are about. */
  readonly people: readonly ConcernedPerson[];
  /** Absent if the target is a file or an object. */
  readonly credentials?: CredentialSummary | undefined;
}

/** The result of a migration. */
export interface MigrationResult extends Listed {
  /** `done` without unexpected differences and errors, `failed` if records are in wrong organisations, otherwise `listed`. */
  readonly outcome: 'done' | 'listed' | 'failed';
  /** Records that ZITADEL wrote into another organisation than the source's. Absent if there are none. */
  readonly elsewhere?: readonly Notice[];
  /** The release of the command. */
  readonly command: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /**
   * The time when the migration began to read the source, and the time when it found the target equal. The source must
   * not have changed in between. Absent if the target differs, or if the time is unknown, as for a file without a
   * manifest.
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
  /** The steps that undo the migration, for the organisations that moved. */
  readonly takeBack: readonly ManualStep[];
}

/** The plan of a migration. */
export interface MigrationPlan extends Listed {
  /** The checks of the places: sentences without a full stop. */
  readonly checks: readonly { readonly status: 'ok' | 'warning'; readonly message: string }[];
  readonly organisations: readonly PlannedOrganisation[];
  readonly sections: Readonly<Counts>;
  /** The comparison with the target. */
  readonly before: OrganisationCounts;
  readonly options: ShownOptions;
  /** The size of the export's JSON. */
  readonly bytes: number;
  /** The selected secrets, and the number of each kind in the export. */
  readonly secrets: { readonly selected: readonly string[]; readonly found: Readonly<Counts> };
  readonly hashFormats: Readonly<Counts>;
  /** The people whose changes in the target the migration would overwrite. */
  readonly undone: readonly UndonePerson[];
  readonly undoneOmitted: number;
  /** The errors of the target's dry run. */
  readonly refused: readonly Notice[];
  readonly refusedOmitted: number;
  /** The content that does not move, and the changes that the target makes. */
  readonly losses: readonly string[];
  readonly changes: readonly string[];
}
