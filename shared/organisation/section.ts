import type { JsonObject } from '../json/jsonObject.ts';
import type { FieldName } from '../store/documentFields.ts';
import type { Collection } from '../store/store.ts';

/**
 * A place in a record's JSON, such as `project.name`; `$orgId` is the organisation that the record stands in. What
 * starts with `=` is that text itself.
 */
type FieldPath = string;

/**
 * A `FieldPath` that may lead through a list, to as many places as that has elements: `roleKeys[]`, `idps[].configId`,
 * or with `idps[ownerType=IDP_OWNER_TYPE_ORG].idpId` through those elements alone whose field has that value.
 */
type ListPath = string;

/** The phases of an import: in each, the document is gone through once. */
export const phases = [1, 2, 3, 4] as const;

/** An error of ZITADEL's that goes into the import response's `errors`, as `ID=<id> Message=<key>` (zitadel 5.7). */
export interface RecordIssue {
  readonly id: string;
  readonly key: string;
}

/** A name that only one record may have: in the whole instance, or within what `parts` begins with. */
export interface UniqueName {
  readonly type: string;
  readonly parts: readonly FieldPath[];
  readonly taken: RecordIssue;
  /** Claimed only by records in which this field is true. */
  readonly onlyIf?: FieldPath;
  /** Within the organisation only, where its login names carry the organisation's domain (zitadel 3.4). */
  readonly perOrganisationByDomainPolicy?: boolean;
}

/** Names that another organisation may have claimed, and then a new record must not use. */
export interface ReservedName {
  /** The claims' `UniqueName.type`. */
  readonly type: string;
  /** The name is what stands behind the last `@` of the text here; without an `@` there is none. */
  readonly suffixOf: FieldPath;
  readonly reserved: RecordIssue;
}

/** A record that must be there for this one to be written. */
export interface Reference {
  readonly collection: Collection;
  /** At most one part leads through a list: then each of its elements refers to a record. */
  readonly key: readonly ListPath[];
  readonly missing: RecordIssue;
  /** Whether a record may do without: then an empty `key` refers to nothing. */
  readonly optional?: true;
  /** What happens where the record referred to belongs to another organisation: nothing, or this. */
  readonly ofOther?: 'notCarried' | RecordIssue;
  /** What is wrong where it belongs to the same one. */
  readonly ofOwn?: RecordIssue;
  /** What the record referred to must be like beside being there. */
  readonly check?: (target: JsonObject, record: JsonObject, orgId: string) => RecordIssue | undefined;
}

/** A credential inside a record: kept in a field of its own, exported only when `flag` is set (specification 2.4). */
export interface Credential {
  readonly path: FieldPath;
  readonly field: Extract<FieldName, 'passwordHash' | 'totpSeed' | 'clientSecret'>;
  readonly flag: 'withPasswords' | 'withOtp';
}

/** One section of the organisation document: a field that holds one kind of record. */
export interface Section {
  /** The field's JSON name in the v2 document, which is also its name in `summary` and `manifest`. */
  readonly name: string;
  readonly collection: Collection;
  /** The object inside a record's wrapper, without which there is no record. */
  readonly inner?: string;
  /** Records of a phase refer only to records of earlier ones. */
  readonly phase: (typeof phases)[number];
  /** What identifies a record within its collection. */
  readonly key: readonly FieldPath[];
  readonly unique?: readonly UniqueName[];
  readonly references?: readonly Reference[];
  /** Looked at only where login names do not carry the organisation's domain (zitadel 3.4). */
  readonly reserved?: readonly ReservedName[];
  readonly credentials?: readonly Credential[];
  /** Where a record may hold a password in clear: it is hashed before it is stored. */
  readonly clearPassword?: FieldPath;
  /** A phone number, stored in E.164. */
  readonly phone?: FieldPath;
  /** Whether a record may have the OTP e-mail factor: `otpEmail` beside its fields, exported with `withOtp`. */
  readonly otpEmail?: true;
  /** Which of the organisation's other records this policy decides about. */
  readonly governs?: Governed;
  /** Names of the field in a v1 document, where it has others (zitadel 5.9). */
  readonly aliases?: readonly string[];
  /** Lists that a v1 document holds beside the record and v2 inside it: what each element becomes (zitadel 5.9). */
  readonly v1Lists?: Readonly<Record<string, (element: unknown) => unknown>>;
  /** Converts what only a v1 document holds into what the v2 schema reads (zitadel 5.9). */
  readonly fromV1?: (value: unknown) => unknown;
  /** Brings a record to the one form in which it is stored, so that equal records have equal digests; changes `json`. */
  readonly normalise?: (json: JsonObject, orgId: string) => void;
  /** Warns of a record that is imported and will not work. */
  readonly warnings?: (record: ImportedRecord) => readonly string[];
  /**
   * What a record of its own must be like beyond the rules of its fields (zitadel 5.7).
   * @param now when the import began, ISO 8601
   */
  readonly check?: (record: JsonObject, now: string) => RecordIssue | undefined;
  /** A field that stays as it is when a record is overwritten, since other records were written by it. */
  readonly fixed?: FieldPath;
  /** `type` and `id` of an entry in `errors`, and the fault where the record exists with other content. */
  readonly error: { readonly type: string; readonly id: readonly FieldPath[]; readonly exists: RecordIssue };
  /** Where a written record is listed in the import response's `success` (zitadel 5.8): its id, or an object. */
  readonly success?: {
    readonly field: string;
    readonly entry: readonly FieldPath[] | Readonly<Record<string, FieldPath>>;
  };
  /** Left out unless the request says `with_keys` (specification 8.4: keys are not carried). */
  readonly keys?: boolean;
}

/** What a policy can decide about: the scope of login names, or what passwords in clear must have. */
export type Governed = 'loginNames' | 'passwords';

/** A record as far as warnings look into it. */
export interface ImportedRecord {
  readonly json: JsonObject;
  readonly orgId: string;
  readonly credentials: Credentials;
}

/** The credentials of one record, by the field in which each is stored. */
export type Credentials = { readonly [Field in Credential['field']]?: string };

/** Whether an organisation has a list of these records, or one. */
export function isList({ collection }: Section): boolean {
  return collection !== 'settings';
}

/** Whether a stored document, by its `partition`, is a record of the section. */
export function isInSection(partition: string | undefined, { name }: Section): boolean {
  return partition?.startsWith(`${name}/`) === true;
}

/** What the records of one section of one organisation are found by in the store. */
export function sectionPartition(orgId: string, section: Section): string {
  return `${section.name}/${orgId}`;
}

/** A unique name that another record has. */
export const taken = (key: string): RecordIssue => ({ id: 'V3-DKcYh', key });
/** A user who must exist, person or service user. */
export const user = (path: string, id: string): Reference => ({
  collection: 'users',
  key: [path],
  missing: { id, key: 'Errors.User.NotFound' },
});
/** A project that must exist. */
export const project = (path: string, id: string): Reference => ({
  collection: 'projects',
  key: [path],
  missing: { id, key: 'Errors.Project.NotFound' },
});
/** An identity provider that must exist. */
export const identityProvider = (path: string, id: string): Reference => ({
  collection: 'identityProviders',
  key: [path],
  missing: { id, key: 'Errors.IDPConfig.NotExisting' },
});
/** Project roles that must exist. */
export const projectRoles = (projectId: string, roleKeys: string, id: string): Reference => ({
  collection: 'projectRoles',
  key: [projectId, roleKeys],
  missing: { id, key: 'Errors.Project.Role.NotFound' },
});
/** The same reference, where another organisation's record counts as missing. */
export const own = (reference: Reference): Reference => ({ ...reference, ofOther: reference.missing });

/** Gives `json` the fields of `ordered`, in that order. */
export function reorder(json: JsonObject, ordered: JsonObject): void {
  const names = Object.keys(ordered);
  // Most records have the order already, and V8 slows down an object whose fields are deleted.
  const inOrder = Object.keys(json).every((name, index) => name === names[index]);
  if (!inOrder) for (const name of Object.keys(json)) delete json[name];
  for (const name of names) if (ordered[name] !== undefined) json[name] = ordered[name];
}

/** Normalises a record that names its organisation: it is the organisation that the record stands in. */
export function nameOrganisation(json: JsonObject, orgId: string): void {
  const rest = { ...json };
  delete rest.orgId;
  reorder(json, { orgId, ...rest });
}

/** An organisation's texts, one record a language. ZITADEL replaces them at each import, so it has no error for them. */
export function texts(name: string, type: string): Section {
  return {
    name,
    collection: 'texts',
    phase: 1,
    key: ['$orgId', `=${name}`, 'language'],
    error: {
      type,
      id: ['$orgId', 'language'],
      exists: { id: 'IMPORT-textExists', key: 'Errors.CustomText.AlreadyExists' },
    },
  };
}
