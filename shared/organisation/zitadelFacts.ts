// Declares the types of facts. A fact describes what ZITADEL does to records or their fields. Each section's row
// contains the facts about its records.

import type { IssueRow, IssueValues } from '../errors/issueText.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { CredentialField } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';
import type { FieldPath } from './relations.ts';
import { contains, describeReleases, overlap, type ReleaseRange } from './zitadelReleases.ts';

/** Secrets that a file contains only if its export selected them. */
export type SecretField = 'withPasswords' | 'withOtp' | 'withKeys';

export interface ManualStep {
  /** The stable name of the step, for programs. */
  readonly reason: string;
  /**
   * What the user must do. The step's message consists of the fact's text and this text. Both may contain named
   * parameters.
   */
  readonly remedy?: string;
  /** The beginning of the message if it differs from the fact's text. May contain named parameters. */
  readonly because?: string;
  /**
   * `organisation` if the step concerns a section of an organisation, `file` if it concerns the whole file. By default,
   * it concerns a single record.
   */
  readonly scope?: 'organisation' | 'file';
  /** Whether the command takes this step itself. Only a user who sends the file with another program must take it. */
  readonly byHand?: true;
  /**
   * If `ifWith` is set, the step applies only to files that contain these secrets. If `ifWithout` is set, the step
   * applies only to files that lack these secrets.
   */
  readonly ifWith?: SecretField;
  readonly ifWithout?: SecretField;
  /** Whether the step applies only to organisations whose domain policy does not validate domains. */
  readonly unlessValidated?: true;
  /** `releases` contains the releases that the target may run. */
  readonly applies?: (document: StoredDocument, releases: ReleaseRange) => boolean;
  readonly params?: (document: StoredDocument, releases: ReleaseRange) => IssueValues;
}

/** The two values in a comparison of a field: first the value on the other side, then ZITADEL's value. */
export type DifferingValues = readonly [other: unknown, zitadel: unknown];

interface ZitadelDomains {
  /** Whether the other side of the comparison was imported into ZITADEL. */
  readonly isTarget: boolean;
  /** The domains of ZITADEL's instance, from which ZITADEL derives the default domains of organisations. */
  readonly domains: readonly string[];
}

export interface FileRecords {
  readonly ownerOf: (projectId: string) => string | undefined;
  readonly hasPasswordlessTexts: (orgId: string) => boolean;
}

/**
 * The properties of every fact. After an import, `text` explains an expected difference. The messages of the fact's
 * manual steps begin with `text`.
 */
export interface Fact extends ReleaseRange {
  /**
   * A sentence without its period. If the fact applies only to some releases, the text of a manual step begins with the
   * releases.
   */
  readonly text: string;
  /** Whether `text` already mentions the releases to which the fact applies. */
  readonly releasesInText?: true;
  /**
   * Whether the manual step applies only if every release that the target may run is in the fact's range. For other
   * targets, another fact declares the step.
   */
  readonly ifKnown?: true;
  readonly steps?: readonly ManualStep[];
  /** The sentence for plans, if it differs from the messages of the manual steps. */
  readonly plan?: string;
}

export interface FieldFact extends Fact {
  readonly does: 'imports not' | 'exports not' | 'changes' | 'refuses';
  readonly fields: readonly FieldPath[];
  /**
   * Returns whether the fact explains why a field has two different values. By default, the fact explains a difference
   * if ZITADEL has no value.
   */
  readonly explains?: (values: DifferingValues, zitadel: Pick<ZitadelDomains, 'isTarget'>) => boolean;
}

export type RecordFact = Fact &
  (
    | {
        readonly does: 'imports not';
        /** Returns whether an import into ZITADEL omits a record. Absent if it omits all records of the section. */
        readonly when?: (record: RecordWithSecrets, file: FileRecords) => boolean;
        readonly dependsOnFile?: true;
      }
    | {
        readonly does: 'exports not';
        /** Returns whether ZITADEL's exports omit the record with this id. Absent if they omit all of the section. */
        readonly when?: (id: string) => boolean;
      }
    | { readonly does: 'changes' }
    | { readonly does: 'adds'; readonly when: (id: string, zitadel: ZitadelDomains) => boolean }
    /** A fact that explains no difference between records. */
    | { readonly does: 'also' }
  );

interface RecordWithSecrets {
  readonly json: JsonObject;
  readonly orgId: string;
  readonly credentials: { readonly [Field in CredentialField]?: string };
}

/**
 * A kind of records whose names some releases of ZITADEL compare without distinguishing case. `scope` and `name` are
 * paths in the record.
 */
interface CaselessName extends ReleaseRange {
  readonly kind: string;
  readonly scope: FieldPath;
  readonly name: FieldPath;
}

/** What ZITADEL does to a record that refers to identity providers outside the file, and the remedy. */
export interface MissingProviders extends Pick<ManualStep, 'reason'> {
  readonly text: string;
  readonly remedy: string;
}

/** What ZITADEL does to the records of a section (zitadel 9.5). */
export interface ZitadelBehaviour {
  readonly fields?: readonly FieldFact[];
  readonly records?: readonly RecordFact[];
  /** Content that ZITADEL's exports never contain and that neither `fields` nor `records` describes. */
  readonly unexported?: readonly string[];
  /**
   * Whether a later export may lack a stored record, or contain it in another section. A missing record then does not
   * prove that the record was deleted.
   */
  readonly exportsPartly?: true;
  readonly caseless?: CaselessName;
  /**
   * Whether ZITADEL may store a record in another organisation than in the file. If so, comparisons must search the
   * whole instance.
   */
  readonly movesRecords?: true;
  readonly missingProviders?: MissingProviders;
}

export function mayApply(fact: Pick<Fact, 'since' | 'until' | 'ifKnown'>, releases: ReleaseRange): boolean {
  return fact.ifKnown ? contains(fact, releases) : overlap(fact, releases);
}

/**
 * Returns the text of the fact that ZITADEL does not import a field; undefined if all releases in `releases` import the
 * field.
 */
export function importLoss(
  { fields = [] }: ZitadelBehaviour,
  path: FieldPath,
  releases: ReleaseRange,
): string | undefined {
  const lost = fields.filter((fact) => fact.does === 'imports not' && fact.fields.includes(path));
  return lost.find((fact) => overlap(fact, releases))?.text;
}

const NOT_EXPORTED = 'no export of ZITADEL contains this field';

export function stepRow(fact: Omit<Fact, 'steps'>, step: Pick<ManualStep, 'because' | 'remedy'>): IssueRow {
  const { because = fact.text, remedy } = step;
  const { releasesInText = false, ifKnown = false } = fact;
  const releases = releasesInText || ifKnown ? '' : describeReleases(fact);
  const text = releases === '' ? because : `${releases}, ${because}`;
  return remedy === undefined ? { text } : { text, remedy };
}

export function unexported(...fields: readonly FieldPath[]): FieldFact {
  return { does: 'exports not', fields, text: NOT_EXPORTED };
}

/**
 * Lists the content that exports of ZITADEL may lack: first the paths of fields, formatted as code, then other content.
 */
export function unexportedContent(
  { fields = [], unexported: others = [] }: ZitadelBehaviour,
  releases: ReleaseRange,
): readonly string[] {
  const lacked = fields.filter((fact) => fact.text === NOT_EXPORTED && overlap(fact, releases));
  const never = lacked.flatMap((fact) => fact.fields);
  return [...never.map((path) => `\`${path}\``), ...others];
}

/** Whether a boolean field is absent or false in ZITADEL. */
export function isFalse([, zitadel]: DifferingValues): boolean {
  return zitadel === undefined || zitadel === false;
}

/** If ZITADEL moves a record to another organisation, comparisons show this as a difference in this field. */
export const ORGANISATION_FIELD = 'orgId';

export const equalButForCase = {
  reason: 'differs_by_case_only',
  text: 'ZITADEL does not distinguish this record from another record whose name or key differs by case only',
  remedy: 'this record is not imported; create the record in the target under another name',
};
