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

/** The phases of an import. In each phase, the import reads the export file once. */
export const phases = [1, 2, 3, 4] as const;

/**
 * The steps of an import into ZITADEL, in their order. The records of a step refer only to records of earlier steps,
 * because ZITADEL neither sorts nor retries (zitadel 5.4).
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
  /** The path of the list in the outer record. */
  readonly list: FieldPath;
  /** The section of the inner records. Its phase comes after the phase of the outer record. */
  readonly section: Section;
  /** Converts an element of the list to canonical JSON of the inner records' section. */
  readonly toJson: (element: JsonObject, parent: JsonObject) => JsonObject;
}

/**
 * A credential inside a record. It is stored in its own field, and exported only if `flag` is set (specification 2.4).
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
  /** The value, or a function that derives it from the record. */
  readonly value: unknown | ((json: JsonObject) => unknown);
}

/** A field that imports store and exports contain, although ZITADEL's definitions lack it. */
export type KeptField =
  | KeptValue
  /** The OTP e-mail factor is stored in its own field, and exported with `withOtp`. */
  | { readonly path: 'otpEmail'; readonly type: 'factor' };

/** A kept field in the record's JSON. The JSON omits empty texts and false. */
export type KeptValue = {
  /** The path of the field, which is in the record itself or in an object of ZITADEL's definition. */
  readonly path: FieldPath;
} & (
  | {
      readonly type: 'text';
      /** The maximum length in bytes of UTF-8. */
      readonly maxBytes: number;
    }
  | { readonly type: 'boolean' }
);

/** Fields that a record may have in addition to the fields of its definition and the states in `states.ts`. */
interface AdditionalFields {
  readonly kept: readonly KeptField[];
  /**
   * Fields in files of other releases that imports can drop without harm. `summary.notCarried` counts the dropped
   * fields.
   */
  readonly ignored?: readonly { readonly path: FieldPath; readonly reason: string }[];
}

/** The form of a section in v1 files, if it differs from v2 (zitadel 5.9). */
interface V1Form {
  /** Other names of the field in v1 files. */
  readonly aliases?: readonly string[];
  /** Lists that v1 files contain next to the record, and v2 files inside it. Each function converts an element. */
  readonly lists?: Readonly<Record<string, (element: unknown) => unknown>>;
  /** Converts a record to the v2 schema. */
  readonly convert?: (value: unknown) => unknown;
}

/** The privilege that records of the section give: manager roles of a user, or a verified domain of an organisation. */
export interface GivenPrivilege {
  /** The type of the warnings. */
  readonly type: 'privilege' | 'domain';
  /** The path of the roles or the domain. */
  readonly texts: ListPath;
  /** A boolean field. Only records with the value true give the privilege; by default, all records do. */
  readonly onlyIf?: FieldPath;
  /** The organisation or project to which the privilege applies. `noun` is its name in warnings. */
  readonly within: { readonly collection: Collection; readonly key: readonly FieldPath[] };
  readonly noun: string;
}

/** A field that imports derive from stored records, as ZITADEL does. */
interface CompletedField {
  readonly field: FieldPath;
  /** Returns the completions in the order of the records. A completion is undefined if the record does not change. */
  readonly complete: (
    reader: Reader,
    records: readonly Pick<ImportedRecord, 'json' | 'orgId'>[],
  ) => Promise<readonly (Completion | undefined)[]>;
}

/**
 * The value that an import sets for a completed field, and the warning about it. If the value is undefined, the import
 * unsets the field.
 */
export interface Completion {
  readonly value: string | undefined;
  readonly warning: RecordWarning;
}

/** A field that only one record of an organisation can have. Imports drop the field from the other records. */
interface AdjustedField {
  readonly field: FieldPath;
  /**
   * Returns a record's marks, such as `primary`. For each mark, the import knows which record with this mark is the
   * organisation's last in the file.
   */
  readonly marks: (json: JsonObject) => readonly string[];
  /**
   * Returns how to report a record from which the import drops the field; undefined for a record that keeps the field.
   * @param isLast whether the record is the organisation's last record with a mark
   */
  readonly adjust: (
    json: JsonObject,
    isLast: (mark: string) => boolean,
    rules: OrganisationRules,
  ) => Adjustment | undefined;
  /**
   * Returns the warning about a record from which the import drops the field because a stored record already has it.
   */
  readonly held: (stored: JsonObject) => RecordWarning;
}

/** The rules that an organisation's policies set for its records. */
export interface OrganisationRules {
  readonly validatesDomains: boolean;
  /** The stored primary domain; undefined if the organisation has none. */
  readonly primaryDomain?: PrimaryDomain | undefined;
}

/** A stored primary domain. */
export interface PrimaryDomain {
  readonly domainName: string;
  readonly isVerified: boolean;
  /** Whether the domain stays the primary domain after the import. */
  readonly isKept: boolean;
}

/** How to report a record from which the import drops a field. */
export interface Adjustment {
  /** The `type` and the issue of the error. */
  readonly error?: { readonly type: string; readonly issue: RecordIssue };
  readonly warning?: RecordWarning;
}

/** The fields of an identity provider that exports repeat in records that refer to it. */
export interface Provider {
  readonly orgId: string;
  readonly name: string;
  readonly type: string | number | undefined;
}

/** Whether an identity provider belongs to the organisation, by the provider's id. */
export type OwnProviders = (idpId: string) => boolean;

/**
 * How exported records differ from stored records (zitadel 4.3). Exports add facts about the organisation's identity
 * providers, and comparisons ignore these facts.
 */
interface ExportForm {
  /**
   * Fills in the fields that exports add. The order of the fields does not matter. Returns undefined if the record does
   * not change.
   */
  readonly fill?: (
    json: JsonObject,
    orgId: string,
    findProvider: (id: string) => Provider | undefined,
  ) => JsonObject | undefined;
  /** Returns a record for comparisons, without the fields that exports add. */
  readonly withoutFilled?: (json: JsonObject, isOwnProvider: OwnProviders) => JsonObject;
  /** Lists the ids of the identity providers to which a record refers. */
  readonly providers?: (json: JsonObject) => readonly string[];
  /** Removes identity providers that ZITADEL does not have from a record. */
  readonly keepProviders?: (json: JsonObject, isKept: (id: string) => boolean) => void;
  /** The type of the section's identity providers in ZITADEL's exports. */
  readonly providerType?: string | number;
  /**
   * The path of the record's project id. In exports for ZITADEL, records that refer to other organisations' projects
   * come last.
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
  /** The phase that writes the section. Its records refer only to records of earlier phases. */
  readonly phase: (typeof phases)[number];
  /**
   * The step in which an import into ZITADEL sends the section. `dropped` means that ZITADEL accepts the records
   * without importing them.
   */
  readonly zitadelStep: (typeof zitadelSteps)[number] | 'dropped';
  /** What ZITADEL's imports and exports do to the records of the section. */
  readonly zitadel?: ZitadelBehaviour;
  /** The parts of a record's key, which is unique within the collection. */
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
   * `type` and `id` determine the record's entry in `errors`. `exists` is the issue of a record that exists with other
   * content.
   */
  readonly error: {
    readonly type: string;
    readonly id: readonly FieldPath[];
    readonly exists: KeyedIssue;
    /**
     * Further errors with which ZITADEL reports an existing record, and the release with this error. `type` is set if
     * the error is about a part of the record.
     */
    readonly existsToo?: readonly { readonly type?: string; readonly id: string; readonly release: ZitadelRelease }[];
    /**
     * The types of ZITADEL's errors about a part of a record. After such an error, ZITADEL has imported the record
     * without this part. An error with the id `done` means that the record already has the part.
     */
    readonly parts?: readonly { readonly type: string; readonly done?: string }[];
  };
  /**
   * The list in the import response's `success` that contains written records (zitadel 5.8). An entry is an id or an
   * object.
   */
  readonly success?: {
    readonly field: string;
    readonly entry: readonly FieldPath[] | Readonly<Record<string, FieldPath>>;
  };
  /** Whether the section contains keys, which exports and imports include only with `with_keys` (specification 8.4). */
  readonly keys?: boolean;

  // The following properties are needed by few sections. Their functions are next to the section's row, in its file.

  readonly additional?: AdditionalFields;
  readonly v1?: V1Form;
  readonly exported?: ExportForm;
  /** Fields that every record in canonical form contains, because ZITADEL's exports always contain them. */
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
   * Returns the warning about a converted value. `values` reports only converted texts, so this is for values of other
   * types.
   */
  readonly valueWarning?: (record: ImportedRecord) => RecordWarning | undefined;
  /** Returns warnings for a record that can be imported but will not work. */
  readonly warnings?: (record: ImportedRecord) => readonly RecordWarning[];
  /**
   * Validates a single record beyond the rules of its fields (zitadel 5.7). Returns `notCarried` for a record without
   * content, which imports omit.
   * @param now the start of the import, ISO 8601
   */
  readonly check?: (record: JsonObject, now: string) => RecordIssue | 'notCarried' | undefined;
  /**
   * Numbers, durations, booleans and objects that an import may leave out if they are invalid, with a warning. Without
   * such a field, the record must give no further rights. An import may also leave out invalid texts, enumeration
   * values and elements of lists, unless `needed` lists the field.
   */
  readonly optional?: readonly FieldPath[];
  /**
   * Texts, enumeration values and lists that an import cannot leave out. If one of them is invalid, the record is
   * invalid.
   */
  readonly needed?: readonly FieldPath[];
  /**
   * A field that may repeat the value of `by`, which is another field or `$orgId`. If the values differ, the value of
   * `by` counts.
   */
  readonly repeated?: { readonly field: FieldPath; readonly by: FieldPath };
  readonly adjusted?: AdjustedField;
  /** Records of another section that a file may contain inside the record. */
  readonly nested?: NestedRecords;
  /** A part of the key that files may omit, because imports can derive it from stored records. */
  readonly completed?: CompletedField;
  /**
   * The privilege that a record gives. An import warns if it adds the privilege to an existing organisation or project.
   */
  readonly privilege?: GivenPrivilege;
  /**
   * The names that new records must not use. Imports check them only if login names do not contain the organisation's
   * domain (zitadel 3.4).
   */
  readonly reserved?: readonly ReservedName[];
}

/** The parts of a record that warnings depend on. */
export interface ImportedRecord {
  readonly json: JsonObject;
  /** The JSON before its values were converted; absent if no value was converted. */
  readonly given?: JsonObject;
  readonly orgId: string;
  readonly credentials: Credentials;
}

/** The credentials of one record, by the field that stores them. */
export type Credentials = { readonly [Field in CredentialField]?: string };

/**
 * The field of an organisation that an import created. It contains the id of the instance that had exported the
 * organisation. Only exports of this service have this field.
 */
export const IMPORTED_FROM = 'importedFrom';

/** Whether an organisation can have several records of the section. */
export function isList({ collection }: Section): boolean {
  return collection !== 'settings';
}

/** Whether the section's records may have the OTP e-mail factor. */
export function mayHaveOtpEmail({ additional }: Section): boolean {
  return additional?.kept.some(({ path }) => path === 'otpEmail') === true;
}

/** The name of the section of service users, for code that does not need the whole section. */
export const serviceUsers = { name: 'machineUsers' } as const satisfies Pick<Section, 'name'>;

/** Whether a document with this partition is a record of the section. */
export function isInSection(partition: string | undefined, { name }: { readonly name: string }): boolean {
  return partition?.startsWith(`${name}/`) === true;
}

/** Returns the partition in the store for one section of one organisation. */
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
