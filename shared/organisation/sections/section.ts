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

/** In each phase, the import reads the export file once. */
export const phases = [1, 2, 3, 4] as const;

/**
 * The steps of an import into ZITADEL, in their order. The records of a step refer only to records of earlier steps,
 * because ZITADEL neither sorts records nor retries failed records (zitadel 4.6).
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
 * Converts a field's value to the value that ZITADEL stores. If `value` is undefined, the import unsets the field, or
 * drops the element from its list. `issue` reports a value that ZITADEL rejects, and `dropped` lists texts that the
 * import drops. The report warns of each changed text, unless only its notation has changed (`isNotation`).
 */
export type ValueRule = (value: unknown) => {
  readonly value?: unknown;
  readonly issue?: RecordIssue;
  readonly dropped?: readonly string[];
  /** Whether the dropped texts are valid, but repeat other texts of the list. */
  readonly isRepeated?: true;
  readonly isNotation?: boolean;
};

/**
 * Records of another section that a file may contain inside a record. An import stores the inner records separately, as
 * ZITADEL does.
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

/**
 * A field that ZITADEL fills in if an imported record lacks it, so that ZITADEL's exports contain the field (zitadel
 * 4.3).
 */
export interface FilledField {
  readonly path: FieldPath;
  readonly value: unknown | ((json: JsonObject) => unknown);
}

/** A field that ZITADEL's definitions lack. Imports store the field, and exports contain it. */
export type KeptField =
  | KeptValue
  /** The OTP e-mail factor is stored in its own field, and exported with `withOtp`. */
  | { readonly path: 'otpEmail'; readonly type: 'factor' };

/** A kept field whose value is in the record's JSON. The JSON omits an empty text and the value false. */
export type KeptValue = {
  /** Either the record itself or an object of ZITADEL's definition contains the field. */
  readonly path: FieldPath;
} & (
  | {
      readonly type: 'text';
      /** The maximum length in bytes of UTF-8. */
      readonly maxBytes: number;
    }
  | { readonly type: 'boolean' }
);

/** Fields that ZITADEL's definition of the section lacks, except the states in `states.ts`. */
interface AdditionalFields {
  readonly kept: readonly KeptField[];
  /**
   * Fields that files of other releases contain, and that imports drop because the records work without them.
   * `summary.notCarried` counts the dropped fields.
   */
  readonly ignored?: readonly { readonly path: FieldPath; readonly reason: string }[];
}

/** The form of a section in v1 files, if it differs from v2 (zitadel 2.1). */
interface V1Form {
  readonly aliases?: readonly string[];
  /**
   * The lists that a v1 file contains next to the record, whereas a v2 file contains them inside. Maps the name of each
   * list to the function that converts an element.
   */
  readonly lists?: Readonly<Record<string, (element: unknown) => unknown>>;
  readonly convert?: (value: unknown) => unknown;
}

/** The privilege that records of the section give: manager roles of a user, or a verified domain of an organisation. */
export interface GivenPrivilege {
  /** The `type` of the import's warnings about the privilege. */
  readonly type: 'privilege' | 'domain';
  /** The path of the roles, or of the domain. */
  readonly texts: ListPath;
  /** A boolean field. Only records with the value true give the privilege; by default, all records do. */
  readonly onlyIf?: FieldPath;
  /**
   * The collection and the key of the organisation or project to which the privilege applies. In warnings, `noun` is
   * the word for it.
   */
  readonly within: { readonly collection: Collection; readonly key: readonly FieldPath[] };
  readonly noun: string;
}

/** A field that imports derive from stored records, as ZITADEL does. */
interface CompletedField {
  readonly field: FieldPath;
  /** Returns a completion for each record, in the same order; undefined for a record that does not change. */
  readonly complete: (
    reader: Reader,
    records: readonly Pick<ImportedRecord, 'json' | 'orgId'>[],
  ) => Promise<readonly (Completion | undefined)[]>;
}

/**
 * The value that an import sets for a completed field, and the warning. If `value` is undefined, the import removes the
 * field.
 */
export interface Completion {
  readonly value: string | undefined;
  readonly warning: RecordWarning;
}

/**
 * A field that only one record of an organisation can have. If several records have the field, imports drop it from all
 * but one.
 */
interface AdjustedField {
  readonly field: FieldPath;
  /**
   * Returns the marks of a record, such as `primary`. An import thus finds, for each mark, the organisation's last
   * record in the file with this mark.
   */
  readonly marks: (json: JsonObject) => readonly string[];
  /**
   * Returns how to report that the import drops the field from a record; undefined if the record keeps the field.
   * @param isLast returns whether the record is the organisation's last record in the file with a mark
   */
  readonly adjust: (
    json: JsonObject,
    isLast: (mark: string) => boolean,
    rules: OrganisationRules,
  ) => Adjustment | undefined;
  /**
   * Returns the warning if the import drops the field from a record because another record, `stored`, already has the
   * field.
   */
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
  /** `type` is the error's type in the response. */
  readonly error?: { readonly type: string; readonly issue: RecordIssue };
  readonly warning?: RecordWarning;
}

/** The fields of an identity provider that exports copy into records that refer to the provider. */
export interface Provider {
  readonly orgId: string;
  readonly name: string;
  readonly type: string | number | undefined;
}

/** Returns whether the organisation owns an identity provider, by the provider's id. */
export type OwnProviders = (idpId: string) => boolean;

/**
 * How exported records differ from stored records (zitadel 4.3). Exports add names and types of the organisation's
 * identity providers, and comparisons ignore the added fields.
 */
interface ExportForm {
  /** Adds the fields that only exports contain, at any position. Returns undefined if the record does not change. */
  readonly fill?: (
    json: JsonObject,
    orgId: string,
    findProvider: (id: string) => Provider | undefined,
  ) => JsonObject | undefined;
  /** Removes the fields that only exported records have, for a comparison. */
  readonly withoutFilled?: (json: JsonObject, isOwnProvider: OwnProviders) => JsonObject;
  readonly providers?: (json: JsonObject) => readonly string[];
  /** Removes from a record the references to identity providers that the target lacks. */
  readonly keepProviders?: (json: JsonObject, isKept: (id: string) => boolean) => void;
  /** The type of the section's identity providers, as ZITADEL's exports write it. */
  readonly providerType?: string | number;
  /**
   * The path of the project's id in the record. An export for ZITADEL writes records that refer to projects of other
   * organisations last.
   */
  readonly ofProject?: FieldPath;
}

/** The name of a section, which is a field of ZITADEL's organisation document. `org` means the organisation itself. */
export type SectionName = Exclude<keyof DataOrg, `$${string}` | 'orgId' | 'orgState'>;

/**
 * A section of an organisation in an export file: a field that contains one kind of record. `userMetadataSection` is a
 * short example.
 */
export interface Section {
  /** The field's JSON name in a v2 file. `summary` and `manifest` use the same name. */
  readonly name: SectionName;
  readonly collection: Collection;
  /** The name of the object that every record must contain, such as `user`. */
  readonly inner?: string;
  /** The phase in which an import writes the section. The section's records refer only to records of earlier phases. */
  readonly phase: (typeof phases)[number];
  /**
   * The step in which an import into ZITADEL sends the section. `dropped` means that ZITADEL accepts the records
   * without importing them.
   */
  readonly zitadelStep: (typeof zitadelSteps)[number] | 'dropped';
  readonly zitadel?: ZitadelBehaviour;
  /** The fields that together identify a record in its collection. */
  readonly key: readonly FieldPath[];
  readonly unique?: readonly UniqueName[];
  readonly references?: readonly Reference[];
  readonly credentials?: readonly Credential[];
  /**
   * The rules for fields whose values ZITADEL converts or rejects. A path that ends in `[]` means the elements of a
   * list.
   */
  readonly values?: Readonly<Record<ListPath, ValueRule>>;
  /**
   * How an import reports a failed record. `type` and the fields in `id` form the entry in `errors`. `exists` is the
   * issue if the record exists with other content.
   */
  readonly error: {
    readonly type: string;
    readonly id: readonly FieldPath[];
    readonly exists: KeyedIssue;
    /**
     * Other errors by which some releases of ZITADEL report that a record exists already. `type` is set if the error
     * concerns only a part of the record.
     */
    readonly existsToo?: readonly { readonly type?: string; readonly id: string; readonly release: ZitadelRelease }[];
    /**
     * The types of the errors by which ZITADEL reports that it imported a record without one of its parts. If the id of
     * the error is `done`, the record already has the part.
     */
    readonly parts?: readonly { readonly type: string; readonly done?: string }[];
  };
  /**
   * `field` is a list in `success` of an import's response (zitadel 5.8). The import adds an entry for each written
   * record to this list. An entry is an id or an object.
   */
  readonly success?: {
    readonly field: string;
    readonly entry: readonly FieldPath[] | Readonly<Record<string, FieldPath>>;
  };
  /** Whether the section contains keys, which exports and imports include only with `with_keys` (specification 8.4). */
  readonly keys?: boolean;

  // Only few sections have the following properties. The functions in these properties are next to the section's row,
  // in the same file.

  readonly additional?: AdditionalFields;
  readonly v1?: V1Form;
  readonly exported?: ExportForm;
  /** Fields that canonical JSON always contains, because ZITADEL's exports always contain them. */
  readonly defaults?: readonly { readonly path: FieldPath; readonly value: unknown }[];
  /** Fields that only ZITADEL fills in. This service stores and exports records without these fields. */
  readonly filled?: readonly FilledField[];
  /** Fields that an overwrite must not change, because other records depend on them. */
  readonly fixed?: readonly FieldPath[];
  /**
   * The field that contains the record's owner, if the key does not contain it. `taken` is the issue if another owner
   * has a record with the same key.
   */
  readonly owner?: { readonly field: FieldPath; readonly taken: KeyedIssue };
  /** Converts a record to its canonical form in place, so that equal records have equal digests. */
  readonly canonicalise?: (json: JsonObject, orgId: string) => void;
  /**
   * Returns the warning about a converted value that is not a text. For texts, the rules in `values` already cause
   * warnings.
   */
  readonly valueWarning?: (record: ImportedRecord) => RecordWarning | undefined;
  /** Returns warnings for a record that can be imported but will not work. */
  readonly warnings?: (record: ImportedRecord) => readonly RecordWarning[];
  /**
   * Checks a single record, in addition to the rules of its fields (zitadel 5.7). Returns `notCarried` for a record
   * without content, because imports omit such records.
   * @param now the start of the import, ISO 8601
   */
  readonly check?: (record: JsonObject, now: string) => RecordIssue | 'notCarried' | undefined;
  /**
   * Numbers, durations, booleans and objects that an import may leave out if they are invalid, with a warning. List a
   * field only if its absence gives the record no further rights. An import may also leave out invalid texts,
   * enumeration values and elements of lists, unless `needed` lists the field.
   */
  readonly optional?: readonly FieldPath[];
  /**
   * Texts, enumeration values and lists that an import must not leave out: if such a field is invalid, the record is
   * invalid.
   */
  readonly needed?: readonly FieldPath[];
  /**
   * A field that may repeat the value of `by`, which is another field or `$orgId`. If the values differ, the value of
   * `by` counts.
   */
  readonly repeated?: { readonly field: FieldPath; readonly by: FieldPath };
  readonly adjusted?: AdjustedField;
  readonly nested?: NestedRecords;
  /** A field of the key that files may omit. Imports derive the value from stored records. */
  readonly completed?: CompletedField;
  /**
   * The privilege that a record gives. An import warns if it adds the privilege to an existing organisation or project.
   */
  readonly privilege?: GivenPrivilege;
  /**
   * The names that new records must not use. Imports check these names only if login names do not contain the
   * organisation's domain (zitadel 3.4).
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
 * The field of an organisation that an import created. The value is the id of the instance whose export contained the
 * organisation. Only exports of this service have this field.
 */
export const IMPORTED_FROM = 'importedFrom';

/** Whether an organisation can have several records of the section. */
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
 * @param orgId the id of the first organisation; by default, the range includes all
 */
export function sectionPartitions(section: { readonly name: string }, orgId = ''): PartitionRange['partitions'] {
  // `0` is the next character after `/`, so this range contains exactly the texts that begin with the prefix.
  return { from: sectionPartition(orgId, section), to: `${section.name}0` };
}
