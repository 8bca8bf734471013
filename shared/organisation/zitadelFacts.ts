// Declares the types of facts. A fact describes what ZITADEL does to records or their fields. Each section's row
// contains the facts about its records.

import type { IssueRow, IssueValues } from '../errors/issueText.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { CredentialField } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';
import type { FieldPath } from './relations.ts';
import { contains, describeReleases, overlap, type ReleaseRange } from './zitadelReleases.ts';

/** The request options that select secrets. A file contains such secrets only if its export selected them. */
export type SecretField = 'withPasswords' | 'withOtp' | 'withKeys';

export interface ManualStep {
  /** The name of the step, which programs can rely on because it does not change. */
  readonly reason: string;
  /**
   * The part of the step's message about what the user must do. The message begins with `because` or the fact's text.
   * Both parts may contain named parameters.
   */
  readonly remedy?: string;
  /**
   * The beginning of the step's message. Absent if the message begins with the fact's text. May contain named
   * parameters.
   */
  readonly because?: string;
  /**
   * `organisation` if the step concerns a section of an organisation, `file` if it concerns the whole file, absent if
   * it concerns a single record.
   */
  readonly scope?: 'organisation' | 'file';
  /**
   * True if the command takes this step itself, so that users must take it only if they send the file with another
   * program.
   */
  readonly byHand?: true;
  /**
   * If `ifWith` is present, the step applies only to files that contain secrets of this kind. If `ifWithout` is
   * present, the step applies only to files without secrets of this kind.
   */
  readonly ifWith?: SecretField;
  readonly ifWithout?: SecretField;
  /** True if the step applies only to organisations whose domain policy does not require the validation of domains. */
  readonly unlessValidated?: true;
  /**
   * Returns whether the step applies to a record. `releases` contains the releases that the target may run. If absent,
   * the step applies to every record.
   */
  readonly applies?: (document: StoredDocument, releases: ReleaseRange) => boolean;
  readonly params?: (document: StoredDocument, releases: ReleaseRange) => IssueValues;
}

/**
 * The two values of a field in a comparison of records from ZITADEL with records from another side: first the other
 * side's value, then ZITADEL's value.
 */
export type DifferingValues = readonly [other: unknown, zitadel: unknown];

interface ZitadelDomains {
  /** True if the records of the other side were imported into ZITADEL. */
  readonly isTarget: boolean;
  /** The domains of ZITADEL's instance. ZITADEL derives the default domains of organisations from them. */
  readonly domains: readonly string[];
}

export interface FileRecords {
  readonly ownerOf: (projectId: string) => string | undefined;
  readonly hasPasswordlessTexts: (orgId: string) => boolean;
}

/**
 * The properties that every fact has. `text` explains a difference that is expected after an import. The message of
 * each manual step of the fact begins with `text`, unless the step has its own beginning.
 */
export interface Fact extends ReleaseRange {
  /**
   * A sentence without the period at its end. If the fact applies only to some releases, the messages of its manual
   * steps begin with these releases.
   */
  readonly text: string;
  /** True if `text` mentions the releases to which the fact applies, so messages need not begin with them. */
  readonly releasesInText?: true;
  /**
   * True if the manual steps require that the fact applies to every release that the target may run. For other targets,
   * another fact declares the steps.
   */
  readonly ifKnown?: true;
  readonly steps?: readonly ManualStep[];
  /** The sentence about the fact in migration plans. Absent if plans use the messages of the manual steps. */
  readonly plan?: string;
}

export interface FieldFact extends Fact {
  readonly does: 'imports not' | 'exports not' | 'changes' | 'refuses';
  readonly fields: readonly FieldPath[];
  /**
   * Returns whether the fact explains why the two values of a field differ. If absent, the fact explains a difference
   * if ZITADEL has no value.
   */
  readonly explains?: (values: DifferingValues, zitadel: Pick<ZitadelDomains, 'isTarget'>) => boolean;
}

export type RecordFact = Fact &
  (
    | {
        readonly does: 'imports not';
        /**
         * Returns whether an import into ZITADEL omits a record. If absent, an import omits all records of the section.
         */
        readonly when?: (record: RecordWithSecrets, file: FileRecords) => boolean;
        readonly dependsOnFile?: true;
      }
    | {
        readonly does: 'exports not';
        /**
         * Returns whether ZITADEL's exports omit the record with this id. If absent, they omit all records of the
         * section.
         */
        readonly when?: (id: string) => boolean;
      }
    | { readonly does: 'changes' }
    | { readonly does: 'adds'; readonly when: (id: string, zitadel: ZitadelDomains) => boolean }
    /** A fact that explains no difference in a comparison. Such a fact may have manual steps. */
    | { readonly does: 'also' }
  );

interface RecordWithSecrets {
  readonly json: JsonObject;
  readonly orgId: string;
  readonly credentials: { readonly [Field in CredentialField]?: string };
}

/**
 * A kind of records for which some releases of ZITADEL treat names that differ only in case as equal. `scope` and
 * `name` are paths in the record.
 */
interface CaselessName extends ReleaseRange {
  readonly kind: string;
  readonly scope: FieldPath;
  readonly name: FieldPath;
}

/**
 * Describes what ZITADEL does to a record that refers to an identity provider outside the file, and what the user must
 * do.
 */
export interface MissingProviders extends Pick<ManualStep, 'reason'> {
  readonly text: string;
  readonly remedy: string;
}

/** What ZITADEL does to the records of a section (zitadel 9.5). */
export interface ZitadelBehaviour {
  readonly fields?: readonly FieldFact[];
  readonly records?: readonly RecordFact[];
  /**
   * Content that ZITADEL's exports never contain. This list contains only content that neither `fields` nor `records`
   * describes.
   */
  readonly unexported?: readonly string[];
  /**
   * True if ZITADEL's later exports may lack a stored record, or contain it in another section. So if a record is
   * missing from an export, this does not prove that the record was deleted.
   */
  readonly exportsPartly?: true;
  readonly caseless?: CaselessName;
  /**
   * True if ZITADEL may store a record in an organisation that does not contain the record in the file. Comparisons
   * must then search the whole instance for the record.
   */
  readonly movesRecords?: true;
  readonly missingProviders?: MissingProviders;
}

export function mayApply(fact: Pick<Fact, 'since' | 'until' | 'ifKnown'>, releases: ReleaseRange): boolean {
  return fact.ifKnown ? contains(fact, releases) : overlap(fact, releases);
}

/**
 * Returns the text of the fact that ZITADEL does not import a field. Returns undefined if every release in `releases`
 * imports the field.
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
 * Lists the content that exports of ZITADEL may lack. The paths of fields come first, formatted as code, and
 * descriptions of other content follow.
 */
export function unexportedContent(
  { fields = [], unexported: others = [] }: ZitadelBehaviour,
  releases: ReleaseRange,
): readonly string[] {
  const lacked = fields.filter((fact) => fact.text === NOT_EXPORTED && overlap(fact, releases));
  const never = lacked.flatMap((fact) => fact.fields);
  return [...never.map((path) => `\`${path}\``), ...others];
}

/** True if a boolean field is absent or false in ZITADEL. */
export function isFalse([, zitadel]: DifferingValues): boolean {
  return zitadel === undefined || zitadel === false;
}

/** The name of the field in which a comparison shows that ZITADEL has moved a record to another organisation. */
export const ORGANISATION_FIELD = 'orgId';

export const equalButForCase = {
  reason: 'differs_by_case_only',
  text: 'ZITADEL does not distinguish this record from another record whose name or key differs by case only',
  remedy: 'this record is not imported; create the record in the target under another name',
};
