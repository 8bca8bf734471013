// What ZITADEL does to the records of a section and to their fields. The section's row contains each fact.

import type { IssueRow, IssueValues } from '../errors/issueText.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { CredentialField } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';
import type { FieldPath } from './relations.ts';
import { contains, describeReleases, overlap, type ReleaseRange } from './zitadelReleases.ts';

/** Secrets that a file may not contain. */
export type SecretField = 'withPasswords' | 'withOtp' | 'withKeys';

/** A manual step after an import. */
export interface ManualStep {
  /** The stable name of the step, for programs. */
  readonly reason: string;
  /** What to do, with named parameters. The text of the fact precedes it. */
  readonly remedy?: string;
  /** The text before the remedy, if it differs from the text of the fact; with named parameters. */
  readonly because?: string;
  /** What the step applies to: a section of an organisation, or the whole file; by default a record. */
  readonly scope?: 'organisation' | 'file';
  /** Whether the command takes the step itself if it sends the file. */
  readonly byHand?: true;
  /** The step applies only to files with these secrets, or without them. */
  readonly ifWith?: SecretField;
  readonly ifWithout?: SecretField;
  /** Whether the step applies only to organisations whose domain policy does not validate domains. */
  readonly unlessValidated?: true;
  /** Whether a record requires the step; by default every record does. */
  readonly applies?: (document: StoredDocument) => boolean;
  /** Returns the parameters of the texts for a record. */
  readonly params?: (document: StoredDocument) => IssueValues;
}

/** The differing values of a field: that of the other side, then that of ZITADEL. */
export type DifferingValues = readonly [other: unknown, zitadel: unknown];

/** The side of a comparison that is ZITADEL. */
interface ZitadelDomains {
  /** Whether the other side was imported into ZITADEL. */
  readonly isTarget: boolean;
  /** ZITADEL's domains, from which it derives the domains of organisations. */
  readonly domains: readonly string[];
}

/** Facts about the other records of a file. */
export interface FileRecords {
  /** Returns the organisation that owns a project of the file. */
  readonly ownerOf: (projectId: string) => string | undefined;
  /** Whether an organisation has texts for passwordless registration. */
  readonly hasPasswordlessTexts: (orgId: string) => boolean;
}

/**
 * The properties of every fact. The text is the reason for an expected difference after an import, and begins a manual
 * step before it.
 */
export interface Fact extends ReleaseRange {
  /**
   * A sentence without its period. If the fact does not apply to all releases, a manual step begins with the releases.
   */
  readonly text: string;
  /** Whether the text contains the releases. */
  readonly releasesInText?: true;
  /**
   * Whether the manual step applies only if the target's release is known to be in the range. For unknown releases,
   * another fact has the step.
   */
  readonly ifKnown?: true;
  readonly steps?: readonly ManualStep[];
  /** The sentence in a plan, if it differs from the manual steps. */
  readonly plan?: string;
  /** What this service does instead, for the documents. */
  readonly here?: string;
}

/**
 * A fact about fields: ZITADEL does not import them, does not export them, changes them, or refuses records with them.
 */
export interface FieldFact extends Fact {
  readonly does: 'imports not' | 'exports not' | 'changes' | 'refuses';
  readonly fields: readonly FieldPath[];
  /** Whether the fact explains the values of a differing field; by default it does if ZITADEL has no value. */
  readonly explains?: (values: DifferingValues, zitadel: Pick<ZitadelDomains, 'isTarget'>) => boolean;
}

/** A fact about whole records: ZITADEL does not import them, does not export them, changes them, or adds some. */
export type RecordFact = Fact &
  (
    | {
        readonly does: 'imports not';
        /** Returns whether ZITADEL does not import a record; by default it imports none. */
        readonly when?: (record: RecordWithSecrets, file: FileRecords) => boolean;
        /** Whether `when` depends on other records of the file. */
        readonly dependsOnFile?: true;
      }
    | {
        readonly does: 'exports not';
        /** Returns whether exports omit a record, by its id; by default they omit all. */
        readonly when?: (id: string) => boolean;
      }
    | { readonly does: 'changes' }
    | { readonly does: 'adds'; readonly when: (id: string, zitadel: ZitadelDomains) => boolean }
    /** An effect that does not cause a difference between records. */
    | { readonly does: 'also' }
  );

/** The parts of a record that decide how ZITADEL imports it. */
interface RecordWithSecrets {
  readonly json: JsonObject;
  readonly orgId: string;
  readonly credentials: { readonly [Field in CredentialField]?: string };
}

/** A name that releases of ZITADEL compare without case: its kind, the path of its scope, and its own path. */
interface CaselessName extends ReleaseRange {
  readonly kind: string;
  readonly scope: FieldPath;
  readonly name: FieldPath;
}

/** What happens to a record that refers to identity providers outside the file, and what to do. */
export interface MissingProviders extends Pick<ManualStep, 'reason'> {
  readonly text: string;
  readonly remedy: string;
}

/** What ZITADEL does to the records of a section (zitadel 9.5). */
export interface ZitadelBehaviour {
  readonly fields?: readonly FieldFact[];
  readonly records?: readonly RecordFact[];
  /** The content that no export of ZITADEL contains, in addition to the fields above. */
  readonly unexported?: readonly string[];
  /**
   * Whether exports may lack a record that earlier exports contained, or lack it under this name. A missing record then
   * does not prove a deletion.
   */
  readonly exportsPartly?: true;
  readonly caseless?: CaselessName;
  /**
   * Whether ZITADEL may store records in another organisation than the file's. Comparisons must then search the whole
   * instance.
   */
  readonly movesRecords?: true;
  readonly missingProviders?: MissingProviders;
}

/** Whether a fact may apply to the releases that ZITADEL may have. */
export function mayApply(fact: Pick<Fact, 'since' | 'until' | 'ifKnown'>, releases: ReleaseRange): boolean {
  return fact.ifKnown ? contains(fact, releases) : overlap(fact, releases);
}

/** Returns the text of the fact that ZITADEL may not import a field; undefined for a field that it imports. */
export function importLoss(
  { fields = [] }: ZitadelBehaviour,
  path: FieldPath,
  releases: ReleaseRange,
): string | undefined {
  const lost = fields.filter((fact) => fact.does === 'imports not' && fact.fields.includes(path));
  return lost.find((fact) => overlap(fact, releases))?.text;
}

/** The text about a field that ZITADEL imports but does not export. */
const NOT_EXPORTED = 'no export of ZITADEL has this field';

/** Returns the row of a manual step. If the fact does not apply to all releases, the text begins with the releases. */
export function stepRow(fact: Omit<Fact, 'steps'>, step: Pick<ManualStep, 'because' | 'remedy'>): IssueRow {
  const { because = fact.text, remedy } = step;
  const { releasesInText = false, ifKnown = false } = fact;
  const releases = releasesInText || ifKnown ? '' : describeReleases(fact);
  const text = releases === '' ? because : `${releases}, ${because}`;
  return remedy === undefined ? { text } : { text, remedy };
}

/** Creates the fact about fields that ZITADEL imports but does not export. */
export function unexported(...fields: readonly FieldPath[]): FieldFact {
  return { does: 'exports not', fields, text: NOT_EXPORTED };
}

/** Lists the content that exports of ZITADEL may not contain: fields as code, then other content. */
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

/** In comparisons, the field that contains the organisation of a record that ZITADEL moves. */
export const ORGANISATION_FIELD = 'orgId';

/** The fact about names that ZITADEL compares without case. */
export const equalButForCase = {
  reason: 'differs_by_case_only',
  text: 'ZITADEL does not distinguish this record from another record whose name or key differs by case only',
  remedy: 'it is not imported; create it under another name',
};
