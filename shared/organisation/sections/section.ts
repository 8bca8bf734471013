// The properties of a section: one row of the tables in `sections/`.

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

/** The phases of an import. Each phase reads the export file once. */
export const phases = [1, 2, 3, 4] as const;

/**
 * The steps of an import into ZITADEL. Each step's records refer only to records of earlier steps, because ZITADEL
 * neither sorts nor retries (zitadel 5.4).
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
 * Converts a field's value to the value that ZITADEL stores. Undefined unsets the field, or drops the element of a
 * list. Can also return an issue for a value that ZITADEL rejects, or the texts that the import drops. The report warns
 * of each changed text, except changes of notation only.
 */
export type ValueRule = (value: unknown) => {
  readonly value?: unknown;
  readonly issue?: RecordIssue;
  readonly dropped?: readonly string[];
  /** Whether the dropped texts are valid, but repeat others of the list. */
  readonly isRepeated?: true;
  readonly isNotation?: boolean;
};

/**
 * Records of another section that a file may contain inside a record. An import stores them separately, as ZITADEL
 * does.
 */
export interface NestedRecords {
  /** The path of the list in the parent. */
  readonly list: FieldPath;
  /** The section of the contained records, which belongs to a later phase than the parent's. */
  readonly section: Section;
  /** Converts an element of the list to canonical JSON of that section. */
  readonly toJson: (element: JsonObject, parent: JsonObject) => JsonObject;
}

/** A credential inside a record: stored in its own field, exported only if `flag` is set (specification 2.4). */
export interface Credential {
  readonly path: FieldPath;
  readonly field: CredentialField;
  readonly flag: 'withPasswords' | 'withOtp';
  /** The field with the same credential in clear text, which is hashed before it is stored. */
  readonly clear?: FieldPath;
}

/**
 * A field that ZITADEL fills in if an imported record does not have it, so that its exports contain it (zitadel 4.3).
 */
export interface FilledField {
  readonly path: FieldPath;
  /** The value, or a function that derives it from the record. */
  readonly value: unknown | ((json: JsonObject) => unknown);
}

/** A field that records keep although it is not in ZITADEL's definition: imports store it, exports contain it. */
export type KeptField =
  | KeptValue
  /** The factor is stored in a field of its own, and exported with `withOtp`. */
  | { readonly path: 'otpEmail'; readonly type: 'factor' };

/** A kept field in the record's JSON, which omits empty texts and false. */
export type KeptValue = {
  /** The path in the record itself, or in an object of ZITADEL's definition. */
  readonly path: FieldPath;
} & (
  | {
      readonly type: 'text';
      /** The maximum length in bytes of UTF-8. */
      readonly maxBytes: number;
    }
  | { readonly type: 'boolean' }
);

/** Fields that a record may have in addition to the fields of its definition and the states of `states.ts`. */
interface AdditionalFields {
  readonly kept: readonly KeptField[];
  /** Fields in files of other releases that imports can drop without harm. `summary.notCarried` counts them. */
  readonly ignored?: readonly { readonly path: FieldPath; readonly reason: string }[];
}

/** The form of a section in v1 files, if it differs from v2 (zitadel 5.9). */
interface V1Form {
  /** Other names of the field in v1 files. */
  readonly aliases?: readonly string[];
  /** Lists that are next to the record in v1 files, and inside it in v2 files; each function converts an element. */
  readonly lists?: Readonly<Record<string, (element: unknown) => unknown>>;
  /** Converts a record to the v2 schema. */
  readonly convert?: (value: unknown) => unknown;
}

/** The privilege that a record gives: a user's manager roles, or an organisation's verified domain. */
export interface GivenPrivilege {
  /** The type of the warnings. */
  readonly type: 'privilege' | 'domain';
  /** The path of the roles or the domain. */
  readonly texts: ListPath;
  /** A boolean field: only records in which it is true give privileges. By default, all records do. */
  readonly onlyIf?: FieldPath;
  /** The organisation or project to which the privilege applies: its key, and its noun in warnings. */
  readonly within: { readonly collection: Collection; readonly key: readonly FieldPath[] };
  readonly noun: string;
}

/** A field that imports derive from stored records, as ZITADEL does. */
interface CompletedField {
  readonly field: FieldPath;
  /** Returns the completions of records, in their order; undefined for records that do not change. */
  readonly complete: (
    reader: Reader,
    records: readonly Pick<ImportedRecord, 'json' | 'orgId'>[],
  ) => Promise<readonly (Completion | undefined)[]>;
}

/** The value of a completed field, undefined to unset it, and the warning about it. */
export interface Completion {
  readonly value: string | undefined;
  readonly warning: RecordWarning;
}

/** A field that only one record of an organisation can have. Imports drop it from the other records. */
interface AdjustedField {
  readonly field: FieldPath;
  /** Lists the marks of a record. For each mark, the import knows the organisation's last record with that mark. */
  readonly marks: (json: JsonObject) => readonly string[];
  /**
   * Returns how to report a record from which the import drops the field; undefined for a record that keeps it.
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
  /** Whether it stays the primary domain, because the import does not overwrite records. */
  readonly isKept: boolean;
}

/** How to report a record from which the import drops a field. */
export interface Adjustment {
  /** The `type` and the issue of the error. */
  readonly error?: { readonly type: string; readonly issue: RecordIssue };
  readonly warning?: RecordWarning;
}

/** The fields of an identity provider that exports repeat in records that refer to the provider. */
export interface Provider {
  readonly orgId: string;
  readonly name: string;
  readonly type: string | number | undefined;
}

/** Whether an identity provider, by its id, belongs to the organisation. */
export type OwnProviders = (idpId: string) => boolean;

/**
 * How exported records differ from stored records (zitadel 4.3): exports add facts about the organisation's identity
 * providers. Comparisons ignore these facts.
 */
interface ExportForm {
  /** Returns the record with the fields filled in, in any order; undefined if it has them already. */
  readonly fill?: (
    json: JsonObject,
    orgId: string,
    findProvider: (id: string) => Provider | undefined,
  ) => JsonObject | undefined;
  /**
   * Returns a record for comparisons, for example without the derived fields about the organisation's identity
   * providers.
   */
  readonly withoutFilled?: (json: JsonObject, isOwnProvider: OwnProviders) => JsonObject;
  /** Lists the ids of the identity providers to which a record refers. */
  readonly providers?: (json: JsonObject) => readonly string[];
  /** Removes identity providers that ZITADEL does not have. */
  readonly keepProviders?: (json: JsonObject, isKept: (id: string) => boolean) => void;
  /** The type of the section's identity providers in ZITADEL's exports. */
  readonly providerType?: string | number;
  /**
   * The path of the id of the record's project. Exports for ZITADEL contain records that refer to other organisations'
   * projects at the end.
   */
  readonly ofProject?: FieldPath;
}

/** The name of a section: a field of ZITADEL's organisation document, `org` for the organisation itself. */
export type SectionName = Exclude<keyof DataOrg, `$${string}` | 'orgId' | 'orgState'>;

/**
 * A section of an organisation in an export file: a field that contains one kind of record. A short example is
 * `userMetadataSection`.
 */
export interface Section {
  /** The field's JSON name in a v2 file, and the section's name in `summary` and `manifest`. */
  readonly name: SectionName;
  readonly collection: Collection;
  /** The required object inside a record's wrapper. */
  readonly inner?: string;
  /** The phase that writes the section. Its records refer only to records of earlier phases. */
  readonly phase: (typeof phases)[number];
  /**
   * The step in which an import into ZITADEL sends the section; `dropped` if ZITADEL accepts its records and drops
   * them.
   */
  readonly zitadelStep: (typeof zitadelSteps)[number] | 'dropped';
  /** What ZITADEL does to the records and their fields. */
  readonly zitadel?: ZitadelBehaviour;
  /** The parts of a record's key within its collection. */
  readonly key: readonly FieldPath[];
  readonly unique?: readonly UniqueName[];
  readonly references?: readonly Reference[];
  readonly credentials?: readonly Credential[];
  /**
   * The rules for fields whose values ZITADEL converts or rejects; a path that ends in `[]` means the elements of a list.
   */
  readonly values?: Readonly<Record<ListPath, ValueRule>>;
  /** The `type` and `id` of an entry in `errors`, and the issue of a record that exists with other content. */
  readonly error: {
    readonly type: string;
    readonly id: readonly FieldPath[];
    readonly exists: KeyedIssue;
    /** Further errors of ZITADEL for existing records: for a part of the record, by its type, or in another release. */
    readonly existsToo?: readonly { readonly type?: string; readonly id: string; readonly release: ZitadelRelease }[];
    /**
     * The types of ZITADEL's errors about a part of a record. The record exists without the part. The record has the part
     * if the error has the id `done`.
     */
    readonly parts?: readonly { readonly type: string; readonly done?: string }[];
  };
  /** The list of the import response's `success` for a written record (zitadel 5.8); an entry is an id or an object. */
  readonly success?: {
    readonly field: string;
    readonly entry: readonly FieldPath[] | Readonly<Record<string, FieldPath>>;
  };
  /** Whether the section contains keys, which are transferred only with `with_keys` (specification 8.4). */
  readonly keys?: boolean;

  // Hooks: properties of few sections. Their functions are in the section's file.

  readonly additional?: AdditionalFields;
  readonly v1?: V1Form;
  readonly exported?: ExportForm;
  /** Fields that every record has in canonical form, because ZITADEL's exports always contain them. */
  readonly defaults?: readonly { readonly path: FieldPath; readonly value: unknown }[];
  /** Fields that only ZITADEL fills in. This service stores and exports records without them. */
  readonly filled?: readonly FilledField[];
  /** Fields that an overwrite must not change, because other records depend on them. */
  readonly fixed?: readonly FieldPath[];
  /**
   * For a record whose key does not contain its owner: the field with the owner, and the issue if another owner has a
   * record with this key.
   */
  readonly owner?: { readonly field: FieldPath; readonly taken: KeyedIssue };
  /** Converts a record to its canonical form in place, so that equal records have equal digests. */
  readonly canonicalise?: (json: JsonObject, orgId: string) => void;
  /** Returns the warning about a converted value that is not a text of its own. */
  readonly valueWarning?: (record: ImportedRecord) => RecordWarning | undefined;
  /** Returns warnings for a record that can be imported but will not work. */
  readonly warnings?: (record: ImportedRecord) => readonly RecordWarning[];
  /**
   * Validates a record on its own, beyond the rules of its fields (zitadel 5.7). Returns `notCarried` for a record
   * without content, which imports omit.
   * @param now the start of the import, ISO 8601
   */
  readonly check?: (record: JsonObject, now: string) => RecordIssue | 'notCarried' | undefined;
  /**
   * Numbers, durations, booleans and objects that an import may leave out if they are invalid, with a warning, because
   * their absence gives the record no further rights. Texts, enumeration values and elements of lists may always be
   * left out, unless `needed` lists them.
   */
  readonly optional?: readonly FieldPath[];
  /** Texts, enumeration values and lists that make the record invalid if they are invalid. */
  readonly needed?: readonly FieldPath[];
  /** A field in which a file may repeat another field or `$orgId`. The value of the other field counts. */
  readonly repeated?: { readonly field: FieldPath; readonly by: FieldPath };
  readonly adjusted?: AdjustedField;
  /** Records of another section that a file may contain inside the record. */
  readonly nested?: NestedRecords;
  /** A part of the key that files may omit. */
  readonly completed?: CompletedField;
  /** The privilege that a record gives. An import warns if it adds the privilege to an existing record. */
  readonly privilege?: GivenPrivilege;
  /** The reserved names; checked only if login names do not contain the organisation's domain (zitadel 3.4). */
  readonly reserved?: readonly ReservedName[];
}

/** The part of a record that warnings depend on. */
export interface ImportedRecord {
  readonly json: JsonObject;
  /** The JSON before its values were converted; absent if nothing was converted. */
  readonly given?: JsonObject;
  readonly orgId: string;
  readonly credentials: Credentials;
}

/** The credentials of one record, by the fields that store them. */
export type Credentials = { readonly [Field in CredentialField]?: string };

/**
 * The id of the instance that exported an organisation before it was imported here. Only exports of this service have
 * this field.
 */
export const IMPORTED_FROM = 'importedFrom';

/** Whether an organisation can have several of the section's records. */
export function isList({ collection }: Section): boolean {
  return collection !== 'settings';
}

/** Whether the section's records may have the OTP e-mail factor. */
export function mayHaveOtpEmail({ additional }: Section): boolean {
  return additional?.kept.some(({ path }) => path === 'otpEmail') === true;
}

/** The name of the section of service users, for code that does not need the whole section. */
export const serviceUsers = { name: 'machineUsers' } as const satisfies Pick<Section, 'name'>;

/** Whether a stored document with this `partition` is a record of the section. */
export function isInSection(partition: string | undefined, { name }: { readonly name: string }): boolean {
  return partition?.startsWith(`${name}/`) === true;
}

/** Returns the store's partition of one section of one organisation. */
export function sectionPartition(orgId: string, { name }: { readonly name: string }): string {
  return `${name}/${orgId}`;
}

/**
 * Returns the store's partitions of one section in all organisations, in the order of the UTF-8 bytes of their ids.
 * @param orgId the id at which to start; by default all ids are included
 */
export function sectionPartitions(section: { readonly name: string }, orgId = ''): PartitionRange['partitions'] {
  // In every encoding, `0` is the character after `/`, so this range contains all texts that begin with the prefix.
  return { from: sectionPartition(orgId, section), to: `${section.name}0` };
}
