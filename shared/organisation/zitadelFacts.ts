// What ZITADEL does to the records of a section and to their fields. Each fact stands in the section's row.

import type { IssueRow, IssueValues } from '../errors/issueText.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { CredentialField } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';
import type { FieldPath } from './relations.ts';
import { describeReleases, overlap, type ReleaseRange } from './zitadelReleases.ts';

/** Secrets that a file may lack. */
export type SecretField = 'withPasswords' | 'withOtp' | 'withKeys';

/** Something to do by hand after an import. */
export interface ManualStep {
  /** The stable name of the step, for programs. */
  readonly reason: string;
  /** What to do, with named parameters. The text of the fact precedes it. */
  readonly remedy?: string;
  /** The text that precedes the remedy, if it is not that of the fact; with named parameters. */
  readonly because?: string;
  /** The subject of an entry: one section of an organisation, or the whole file; by default one record. */
  readonly scope?: 'organisation' | 'file';
  /** Whether this command takes the step itself if it sends the file. */
  readonly byHand?: true;
  /** The secrets that the file must have, or lack. */
  readonly ifWith?: SecretField;
  readonly ifWithout?: SecretField;
  /** Whether it concerns only organisations whose domain policy does not validate domains. */
  readonly unlessValidated?: true;
  /** Whether a record makes it necessary; by default every record does. */
  readonly applies?: (document: StoredDocument) => boolean;
  /** Returns the parameters of the texts for a record. */
  readonly params?: (document: StoredDocument) => IssueValues;
}

/** The values of a differing field: of the other side, and of ZITADEL. */
export type DifferingValues = readonly [other: unknown, zitadel: unknown];

/** The side of a comparison that is ZITADEL. */
interface ZitadelDomains {
  /** Whether the other side was imported into it. */
  readonly isTarget: boolean;
  /** Its domains, from which it derives those of organisations. */
  readonly domains: readonly string[];
}

/** Facts about the other records of a file. */
export interface FileRecords {
  /** Returns the organisation of a project of the file. */
  readonly ownerOf: (projectId: string) => string | undefined;
  /** Whether an organisation has texts of passwordless registration. */
  readonly hasPasswordlessTexts: (orgId: string) => boolean;
}

/** Every fact: its text is the reason of an expected difference after an import, and begins a manual step before it. */
interface Fact extends ReleaseRange {
  /** A sentence without its period. A manual step begins with the releases, if there are others. */
  readonly text: string;
  /** Whether the text contains the releases. */
  readonly releasesInText?: true;
  /** Whether the manual step is for targets only that are known to be of these releases: another fact has it for others. */
  readonly ifKnown?: true;
  readonly steps?: readonly ManualStep[];
  /** The sentence of a plan, if it has more than the manual steps. */
  readonly plan?: string;
  /** What this service does instead, for documents. */
  readonly here?: { readonly does: string; readonly why: string };
}

/** A fact about fields: ZITADEL does not import them, does not export them, changes them, or refuses records with them. */
export interface FieldFact extends Fact {
  readonly does: 'imports not' | 'exports not' | 'changes' | 'refuses';
  readonly fields: readonly FieldPath[];
  /** Whether it explains the values of a differing field; by default if ZITADEL has none. */
  readonly explains?: (values: DifferingValues, zitadel: Pick<ZitadelDomains, 'isTarget'>) => boolean;
}

/** A fact about whole records: ZITADEL does not import them, does not export them, changes them, or adds some. */
export type RecordFact = Fact &
  (
    | {
        readonly does: 'imports not';
        /** Whether ZITADEL does not import a record; by default it imports none. */
        readonly when?: (record: RecordWithSecrets, file: FileRecords) => boolean;
        /** Whether `when` depends on other records of the file. */
        readonly dependsOnFile?: true;
      }
    | {
        readonly does: 'exports not';
        /** Whether exports lack a record, by its id; by default they lack all. */
        readonly when?: (id: string) => boolean;
      }
    | { readonly does: 'changes' }
    | { readonly does: 'adds'; readonly when: (id: string, zitadel: ZitadelDomains) => boolean }
    /** An effect without a difference between records. */
    | { readonly does: 'also' }
  );

/** The content of a record on which its import into ZITADEL depends. */
interface RecordWithSecrets {
  readonly json: JsonObject;
  readonly orgId: string;
  readonly credentials: { readonly [Field in CredentialField]?: string };
}

/** A name that releases of ZITADEL do not distinguish by case: its kind, and the paths of its scope and of itself. */
interface CaselessName extends ReleaseRange {
  readonly kind: string;
  readonly scope: FieldPath;
  readonly name: FieldPath;
}

/** What happens to a record that refers to identity providers which the file does not have, and what to do. */
export interface MissingProviders extends Pick<ManualStep, 'reason'> {
  readonly text: string;
  readonly remedy: string;
}

/** What ZITADEL does to the records of a section (zitadel 9.5). */
export interface ZitadelBehaviour {
  readonly fields?: readonly FieldFact[];
  readonly records?: readonly RecordFact[];
  /** The content that no export of ZITADEL has, in addition to the fields above. */
  readonly unexported?: readonly string[];
  /**
   * Whether a record that exists can be missing in exports although earlier exports had it, or because no export has it
   * under this name. Its absence then does not show that it was deleted.
   */
  readonly exportsPartly?: true;
  readonly caseless?: CaselessName;
  /** Whether it can keep records in another organisation than the file, so that they are compared in the whole instance. */
  readonly movesRecords?: true;
  readonly missingProviders?: MissingProviders;
}

/** Returns the text of the fact that a ZITADEL may not import a field; undefined for a field that it imports. */
export function importLoss(
  { fields = [] }: ZitadelBehaviour,
  path: FieldPath,
  releases: ReleaseRange,
): string | undefined {
  const lost = fields.filter((fact) => fact.does === 'imports not' && fact.fields.includes(path));
  return lost.find((fact) => overlap(fact, releases))?.text;
}

/** The text of a field that ZITADEL imports, and does not export. */
const NOT_EXPORTED = 'no export of ZITADEL has this field';

/** Returns the row of a manual step. The releases of the fact precede its text, if there are others. */
export function stepRow(fact: Omit<Fact, 'steps'>, step: Pick<ManualStep, 'because' | 'remedy'>): IssueRow {
  const { because = fact.text, remedy } = step;
  const { releasesInText = false, ifKnown = false } = fact;
  const releases = releasesInText || ifKnown ? '' : describeReleases(fact);
  const text = releases === '' ? because : `${releases}, ${because}`;
  return remedy === undefined ? { text } : { text, remedy };
}

/** Creates the fact about fields that ZITADEL imports, and does not export. */
export function unexported(...fields: readonly FieldPath[]): FieldFact {
  return { does: 'exports not', fields, text: NOT_EXPORTED };
}

/** Lists the content that exports of ZITADEL may lack: fields as code, then other content. */
export function unexportedContent(
  { fields = [], unexported: others = [] }: ZitadelBehaviour,
  releases: ReleaseRange,
): readonly string[] {
  const lacked = fields.filter((fact) => fact.text === NOT_EXPORTED && overlap(fact, releases));
  const never = lacked.flatMap((fact) => fact.fields);
  return [...never.map((path) => `\`${path}\``), ...others];
}

/** Whether ZITADEL has no value of a boolean field, or false. */
export function isFalse([, zitadel]: DifferingValues): boolean {
  return zitadel === undefined || zitadel === false;
}

/** The compared field with the organisation of a record that ZITADEL moves. */
export const ORGANISATION_FIELD = 'orgId';

/** The fact about names that ZITADEL does not distinguish by case. */
export const equalButForCase = {
  reason: 'differs_by_case_only',
  text: 'ZITADEL does not distinguish this record from another record whose name or key differs by case only',
  remedy: 'it is not imported, create it under another name',
};
