// The properties of a section. Each section is one row of the tables in `sections/`.

import type { DataOrg } from '@zitadel/proto/zitadel/admin_pb.js';
import type { RecordWarning } from '../../errors/warnings.ts';
import type { JsonObject } from '../../json/jsonObject.ts';
import type { CredentialField } from '../../store/documentFields.ts';
import type { Collection, PartitionRange, Reader } from '../../store/store.ts';
import type {
  FieldPath,
  KeyedIssue,
  ListPath,
  RecordIssue,
  Reference,
  ReservedName,
  UniqueName,
} from '../relations.ts';
import type { ZitadelBehaviour } from '../zitadelFacts.ts';
import type { ZitadelRelease } from '../zitadelReleaseTable.ts';

/** The phases of an import. The import reads the export file once in each phase. */
export const phases = [1, 2, 3, 4] as const;

/**
 * The steps of an import into ZITADEL, in their order. A record may refer only to records of earlier steps, because
 * ZITADEL neither sorts records nor retries failed records (zitadel 4.6).
 */
export const zitadelSteps = [
  'organisations',
  'policies and domains',
  'identity providers',
  'login policies',
  'people',
  'service users',
  'parts of users',
  'projects',
  'project roles',
  'applications',
  'application keys',
  'actions',
  'flows',
  'project grants',
  'user grants',
  'members',
  'login texts',
  'message texts',
] as const;

/**
 * Converts a field's value to the value that ZITADEL stores. If the returned `value` is undefined, the import unsets
 * the field, or drops the element from its list. `issue` is present if ZITADEL rejects the value. `dropped` lists the
 * texts that the import drops. The report contains a warning for each changed text, unless `isNotation` is true, which
 * means that only the notation has changed.
 */
export type ValueRule = (value: unknown) => {
  readonly value?: unknown;
  readonly issue?: RecordIssue;
  readonly dropped?: readonly string[];
  /** True if the dropped texts are valid, but are repetitions of other texts in the list. */
  readonly isRepeated?: true;
  readonly isNotation?: boolean;
};

/**
 * The records of another section that a file may contain inside a record. An import stores them separately, as ZITADEL
 * does.
 */
export interface NestedRecords {
  readonly list: FieldPath;
  /** The section of the inner records. Imports write this section in a later phase than the outer record. */
  readonly section: Section;
  readonly toJson: (element: JsonObject, parent: JsonObject) => JsonObject;
}

/**
 * A credential inside a record. The store keeps it in a separate field, and exports contain it only if the request sets
 * `flag` (specification 2.4).
 */
export interface Credential {
  readonly path: FieldPath;
  readonly field: CredentialField;
  readonly flag: 'withPasswords' | 'withOtp';
  /** The field that contains the credential in clear text. Imports hash the clear text before they store it. */
  readonly clear?: FieldPath;
}

/** A field that ZITADEL adds if an imported record lacks it. ZITADEL's exports then contain the field (zitadel 4.3). */
export interface FilledField {
  readonly path: FieldPath;
  readonly value: unknown | ((json: JsonObject) => unknown);
}

/** A field that ZITADEL's definitions lack. Imports store the field, and exports contain it. */
export type KeptField =
  | KeptValue
  /**
   * The database has a separate field for the OTP e-mail factor. Exports contain the factor only if the request sets
   * `withOtp`.
   */
  | { readonly path: 'otpEmail'; readonly type: 'factor' };

/** A field that is stored in the record's JSON. The JSON lacks the field if its value is an empty text or false. */
export type KeptValue = {
  /** The path of the field. The field is in the record itself, or in an object that is in ZITADEL's definition. */
  readonly path: FieldPath;
} & (
  | {
      readonly type: 'text';
      /** The maximum length in bytes of UTF-8. */
      readonly maxBytes: number;
    }
  | { readonly type: 'boolean' }
);

/** The fields that ZITADEL's definition of the section lacks. The states in `states.ts` are not included. */
interface AdditionalFields {
  readonly kept: readonly KeptField[];
  /**
   * Fields in the files of other releases that imports drop, because the records work without these fields.
   * `summary.notCarried` contains the number of dropped fields.
   */
  readonly ignored?: readonly { readonly path: FieldPath; readonly reason: string }[];
}

/** The form of a section in v1 files, if it differs from v2 (zitadel 2.1). */
interface V1Form {
  readonly aliases?: readonly string[];
  /**
   * The lists of a record that a v1 file contains next to the record, whereas a v2 file contains them inside the
   * record. Maps the name of each list to the function that converts an element.
   */
  readonly lists?: Readonly<Record<string, (element: unknown) => unknown>>;
  readonly convert?: (value: unknown) => unknown;
}

/**
 * Describes the privilege that records of a section give: manager roles of a user, or a verified domain of an
 * organisation.
 */
export interface GivenPrivilege {
  /** The `type` of the warnings about the privilege in an import's response. */
  readonly type: 'privilege' | 'domain';
  /** The path of the field that contains the roles or the domain. */
  readonly texts: ListPath;
  /**
   * The path of a boolean field. A record gives the privilege only if the field is true. If `onlyIf` is absent, every
   * record gives the privilege.
   */
  readonly onlyIf?: FieldPath;
  /**
   * The collection and the key of the organisation or project to which the privilege applies. `noun` is the word for it
   * in warnings.
   */
  readonly within: { readonly collection: Collection; readonly key: readonly FieldPath[] };
  readonly noun: string;
}

/** A field that imports set from other stored records, as ZITADEL does. */
interface CompletedField {
  readonly field: FieldPath;
  /** Returns, for each record and in the same order, the value to set; undefined if the record must not change. */
  readonly complete: (
    reader: Reader,
    records: readonly Pick<ImportedRecord, 'json' | 'orgId'>[],
  ) => Promise<readonly (Completion | undefined)[]>;
}

/**
 * The value to which an import sets a completed field, and the warning about this. If `value` is undefined, the import
 * unsets the field.
 */
export interface Completion {
  readonly value: string | undefined;
  readonly warning: RecordWarning;
}

/**
 * A field that only one record of an organisation may have. If several records have the field, imports keep it in one
 * record, and drop it from the others.
 */
interface AdjustedField {
  readonly field: FieldPath;
  /**
   * Returns the marks of a record, which are texts such as `primary`. For each mark, the import remembers the last
   * record of the organisation in the file that has the mark.
   */
  readonly marks: (json: JsonObject) => readonly string[];
  /**
   * Decides whether the import drops the field from a record. Returns how to report this; undefined if the record keeps
   * the field.
   * @param isLast returns whether the record is the last record of the organisation in the file that has the mark
   */
  readonly adjust: (
    json: JsonObject,
    isLast: (mark: string) => boolean,
    rules: OrganisationRules,
  ) => Adjustment | undefined;
  /** Returns the warning if the import drops the field because the record `stored` has the field already. */
  readonly held: (stored: JsonObject) => RecordWarning;
}

export interface OrganisationRules {
  readonly validatesDomains: boolean;
  /** The stored primary domain; undefined if the organisation has none. */
  readonly primaryDomain?: PrimaryDomain | undefined;
}

export interface PrimaryDomain {
  readonly domainName: string;
  readonly isVerified: boolean;
  /** Whether the domain stays the primary domain after the import. */
  readonly isKept: boolean;
}

/** How to report a record from which the import drops a field. */
export interface Adjustment {
  /** The error in the response. `type` is the value of the error's field `type`. */
  readonly error?: { readonly type: string; readonly issue: RecordIssue };
  readonly warning?: RecordWarning;
}

/** The fields of an identity provider that exports add to the records that refer to the provider. */
export interface Provider {
  readonly orgId: string;
  readonly name: string;
  readonly type: string | number | undefined;
}

/** Returns whether the identity provider with this id belongs to the organisation. */
export type OwnProviders = (idpId: string) => boolean;

/**
 * The differences between exported and stored records (zitadel 4.3). Exports add the names and types of the
 * organisation's identity providers, and comparisons ignore these additions.
 */
interface ExportForm {
  /**
   * Adds the fields that only exported records have. The order of the fields does not matter. Returns undefined if the
   * record does not change.
   */
  readonly fill?: (
    json: JsonObject,
    orgId: string,
    findProvider: (id: string) => Provider | undefined,
  ) => JsonObject | undefined;
  /** Removes the fields that only exported records have, so that exported and stored records can be compared. */
  readonly withoutFilled?: (json: JsonObject, isOwnProvider: OwnProviders) => JsonObject;
  readonly providers?: (json: JsonObject) => readonly string[];
  /**
   * Removes the references to identity providers that the target lacks. `isKept` returns whether to keep a reference to
   * a provider.
   */
  readonly keepProviders?: (json: JsonObject, isKept: (id: string) => boolean) => void;
  /** The type of the identity providers in the section, as ZITADEL's exports contain it. */
  readonly providerType?: string | number;
  /**
   * The path of the id of a project in the record. If the project belongs to another organisation, an export for
   * ZITADEL writes the record at the end of the file.
   */
  readonly ofProject?: FieldPath;
}

/**
 * The name of a section, which is the name of a field in ZITADEL's organisation document. The section `org` contains
 * the organisation's own record.
 */
export type SectionName = Exclude<keyof DataOrg, `$${string}` | 'orgId' | 'orgState'>;

/**
 * A section of an organisation in an export file: a field that contains one kind of record. `userMetadataSection` is a
 * short example.
 */
export interface Section {
  /** The field's JSON name in a v2 file. The section has this name in `summary` and `manifest` too. */
  readonly name: SectionName;
  readonly collection: Collection;
  /** The name of the object that every record must contain, such as `user`. */
  readonly inner?: string;
  /** The phase in which an import writes the section. The section's records refer only to records of earlier phases. */
  readonly phase: (typeof phases)[number];
  /**
   * The step in which an import into ZITADEL sends the section. `dropped` means that ZITADEL accepts the section's
   * records, but does not import them.
   */
  readonly zitadelStep: (typeof zitadelSteps)[number] | 'dropped';
  readonly zitadel?: ZitadelBehaviour;
  /** The fields that together identify a record in its collection. */
  readonly key: readonly FieldPath[];
  readonly unique?: readonly UniqueName[];
  readonly references?: readonly Reference[];
  readonly credentials?: readonly Credential[];
  /**
   * The rules for fields whose values ZITADEL converts or rejects. If a path ends in `[]`, the rule applies to each
   * element of the list.
   */
  readonly values?: Readonly<Record<ListPath, ValueRule>>;
  /**
   * How an import reports a record that it cannot write. The entry in `errors` contains `type`, and the values of the
   * fields in `id`. `exists` is the issue if a record with the same key and other content exists.
   */
  readonly error: {
    readonly type: string;
    readonly id: readonly FieldPath[];
    readonly exists: KeyedIssue;
    /**
     * Further errors by which certain releases of ZITADEL report that a record exists already. `type` is present if the
     * error is about a part of the record.
     */
    readonly existsToo?: readonly { readonly type?: string; readonly id: string; readonly release: ZitadelRelease }[];
    /**
     * The errors by which ZITADEL reports that it has imported a record without one of its parts. `type` is the type of
     * such an error. If the id of the error equals `done`, the record already has the part.
     */
    readonly parts?: readonly { readonly type: string; readonly done?: string }[];
  };
  /**
   * How an import's response lists the written records in `success` (zitadel 5.8). `field` is the name of the list in
   * `success`. `entry` contains the paths that form an entry of this list, which is an id or an object.
   */
  readonly success?: {
    readonly field: string;
    readonly entry: readonly FieldPath[] | Readonly<Record<string, FieldPath>>;
  };
  /**
   * True if the records are keys. Exports and imports include keys only if the request sets `with_keys` (specification
   * 8.4).
   */
  readonly keys?: boolean;

  // Most sections lack the following properties. The functions in these properties are in the file that contains the
  // section's row.

  readonly additional?: AdditionalFields;
  readonly v1?: V1Form;
  readonly exported?: ExportForm;
  /**
   * The fields that canonical JSON contains even if their value is the default, because ZITADEL's exports always
   * contain them.
   */
  readonly defaults?: readonly { readonly path: FieldPath; readonly value: unknown }[];
  /** The fields that ZITADEL adds to imported records that lack them. This service does not add these fields. */
  readonly filled?: readonly FilledField[];
  /** Fields that an overwrite must not change, because other records depend on them. */
  readonly fixed?: readonly FieldPath[];
  /**
   * The field with the id of the record's owner. Absent if the key contains this id. `taken` is the issue if a record
   * of another owner has the same key.
   */
  readonly owner?: { readonly field: FieldPath; readonly taken: KeyedIssue };
  /** Converts a record to its canonical form in place, so that equal records have equal digests. */
  readonly canonicalise?: (json: JsonObject, orgId: string) => void;
  /**
   * Returns the warning about the conversion of a value that is not a text. The rules in `values` cause the warnings
   * about texts.
   */
  readonly valueWarning?: (record: ImportedRecord) => RecordWarning | undefined;
  /** Returns warnings for a record that can be imported but will not work. */
  readonly warnings?: (record: ImportedRecord) => readonly RecordWarning[];
  /**
   * Checks a single record, in addition to the rules of its fields (zitadel 5.7). Returns `notCarried` if the record
   * has no content, because imports omit such a record.
   * @param now the start of the import, ISO 8601
   */
  readonly check?: (record: JsonObject, now: string) => RecordIssue | 'notCarried' | undefined;
  /**
   * The numbers, durations, booleans and objects that an import may leave out, with a warning, if they are invalid.
   * List a field only if a record without the field gives no more rights. This list need not contain texts, enumeration
   * values and elements of lists: an import may leave them out unless `needed` contains the field.
   */
  readonly optional?: readonly FieldPath[];
  /**
   * The texts, enumeration values and lists that an import must not leave out. If such a field is invalid, the whole
   * record is invalid.
   */
  readonly needed?: readonly FieldPath[];
  /**
   * A field that may repeat the value of `by`, which is another field or `$orgId`. If the two values differ, the import
   * uses the value of `by`.
   */
  readonly repeated?: { readonly field: FieldPath; readonly by: FieldPath };
  readonly adjusted?: AdjustedField;
  readonly nested?: NestedRecords;
  /** A field of the key that files may omit. If a file omits it, imports derive the value from other stored records. */
  readonly completed?: CompletedField;
  /**
   * The privilege that a record gives. If the import adds the privilege to an organisation or project that existed
   * before, it warns.
   */
  readonly privilege?: GivenPrivilege;
  /**
   * The names that new records must not use if another organisation has claimed them. Imports check these names only if
   * login names do not contain the organisation's domain (zitadel 3.4).
   */
  readonly reserved?: readonly ReservedName[];
}

export interface ImportedRecord {
  readonly json: JsonObject;
  /** The JSON before its values were converted; absent if no value was converted. */
  readonly given?: JsonObject;
  readonly orgId: string;
  readonly credentials: Credentials;
}

export type Credentials = { readonly [Field in CredentialField]?: string };

/**
 * The name of a field that an organisation has if an import created it. The value is the id of the instance that
 * exported the organisation. Only exports of this service contain this field.
 */
export const IMPORTED_FROM = 'importedFrom';

/** True if an organisation can have several records of the section. */
export function isList({ collection }: Section): boolean {
  return collection !== 'settings';
}

export function mayHaveOtpEmail({ additional }: Section): boolean {
  return additional?.kept.some(({ path }) => path === 'otpEmail') === true;
}

export const serviceUsers = { name: 'machineUsers' } as const satisfies Pick<Section, 'name'>;

export function isInSection(partition: string | undefined, { name }: { readonly name: string }): boolean {
  return partition?.startsWith(`${name}/`) === true;
}

export function sectionPartition(orgId: string, { name }: { readonly name: string }): string {
  return `${name}/${orgId}`;
}

/**
 * Returns the partitions in the store for one section of all organisations, in the order of the UTF-8 bytes of the
 * organisations' ids.
 * @param orgId the id of the first organisation in the range; empty if the range must include all organisations
 */
export function sectionPartitions(section: { readonly name: string }, orgId = ''): PartitionRange['partitions'] {
  // In ASCII, `0` follows `/`. So this range contains exactly the partitions that begin with the section's name and
  // `/`.
  return { from: sectionPartition(orgId, section), to: `${section.name}0` };
}
