import { type IssueParams, issueParams } from '../errors/issueText.ts';
import {
  type AnyReasoned,
  type Meaning,
  type ReportedIssue,
  type ZitadelKey,
  zitadelErrors,
} from '../errors/recordIssues.ts';
import type { RecordWarning } from '../errors/warnings.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { Collection } from '../store/store.ts';

/**
 * The path of a field in a record's JSON, such as `project.name`. `$orgId` means the record's organisation. A path that
 * starts with `=` means the constant text after `=`.
 */
export type FieldPath = string;

/**
 * A `FieldPath` that may lead through a list. A path such as `roleKeys[]` or `idps[].configId` means one value for each
 * element of the list. A condition selects elements: `idps[ownerType=IDP_OWNER_TYPE_ORG].idpId`.
 */
export type ListPath = string;

/**
 * An issue of a record, with ZITADEL's id and key. An import's response lists the issue in `errors` as `ID=<id>
 * Message=<key>` (zitadel 5.7).
 */
export type RecordIssue = KeyedIssue | (AnyReasoned & { readonly id: string; readonly key: string });

/** An issue whose reason follows from ZITADEL's key. */
export interface KeyedIssue {
  /** Empty if ZITADEL's message has no id. In that case, `key` is the whole message. */
  readonly id: string;
  readonly key: ZitadelKey;
  readonly reason?: undefined;
  /** Parameters of the reason, in addition to the parameters that the key determines. */
  readonly params?: IssueParams;
}

export function formatIssue({ id, key }: RecordIssue): string {
  return id === '' ? key : `ID=${id} Message=${key}`;
}

export function reportedIssue(issue: RecordIssue): ReportedIssue {
  const { reason, params }: Meaning = issue.reason === undefined ? zitadelErrors[issue.key] : { reason: issue.reason };
  const allParams = { ...params, ...issueParams(issue.params ?? {}) };
  return { message: formatIssue(issue), reason, ...(Object.keys(allParams).length === 0 ? {} : { params: allParams }) };
}

/**
 * A name that must be unique in the instance. If `parts` starts with `$orgId`, the name must be unique only in the
 * organisation.
 */
export interface UniqueName {
  readonly type: string;
  readonly parts: readonly FieldPath[];
  /**
   * The issue if another record has the same name. With `adjusted`, there is no issue: the import drops the field of
   * `Section.adjusted` from the record.
   */
  readonly taken: KeyedIssue | 'adjusted';
  /**
   * Whether names that look alike count as the same name. By default, only names that differ in case count as the same.
   */
  readonly lookAlikes?: true;
  /** A boolean field. Only records with the value true claim the name; by default, all records do. */
  readonly onlyIf?: FieldPath;
  /**
   * A boolean field of domain policies, which decides whether login names contain the organisation's domain. A policy
   * claims the name only if this field differs from the instance's default.
   */
  readonly onlyIfLoginNamesChange?: FieldPath;
  /**
   * Whether the name must be unique in its organisation only. Unlike `$orgId` in `parts`, this option keeps the case of
   * the organisation's id.
   */
  readonly perOrganisation?: true;
  /**
   * Whether the name must be unique in its organisation only if login names contain the organisation's domain (zitadel
   * 3.4).
   */
  readonly perOrganisationByDomainPolicy?: boolean;
}

/** A name that new records must not use if another organisation has claimed it. */
export interface ReservedName {
  /** `UniqueName.type` of the claims on such names. */
  readonly type: string;
  /** The path of a text, such as an e-mail address. The name is the part after the last `@` of the text. */
  readonly suffixOf: FieldPath;
  readonly reserved: KeyedIssue;
}

/** A reference to a record that must exist before the referring record is written. */
export interface Reference {
  readonly collection: Collection;
  /** The parts of the target's key. At most one part may lead through a list; then each element refers to a target. */
  readonly key: readonly ListPath[];
  readonly missing: KeyedIssue;
  /**
   * If the record also refers to a record of `collection`, and its own organisation owns that record, `issue` replaces
   * `missing`.
   */
  readonly missingBesideOwn?: { readonly collection: Collection; readonly issue: KeyedIssue };
  /**
   * The warning if the target is missing. The import still writes the record, because a later import may add the
   * target. But if the last part of `key` is empty, the import rejects the record.
   */
  readonly keptIfMissing?: 'provider_missing' | 'linked_provider_missing';
  /** Whether the record may lack the reference: an empty last part of `key` refers to nothing. */
  readonly optional?: true;
  /**
   * The issue if the target belongs to another organisation. With `notCarried`, the import omits the record instead. By
   * default, such a reference is valid.
   */
  readonly ifForeign?: 'notCarried' | KeyedIssue;
  /**
   * The type and the parts of a unique name. If a record has claimed this name, the target may belong to another
   * organisation.
   */
  readonly permittedBy?: { readonly type: string; readonly parts: readonly FieldPath[] };
  /**
   * The field of the target that contains the id of another organisation. The records of that organisation may refer to
   * the target, too. Used only together with `check`.
   */
  readonly openTo?: FieldPath;
  /**
   * The warning if the target belongs to the record's own organisation. The import then omits the record. By default,
   * such a reference is valid.
   */
  readonly ifOwn?: RecordWarning;
  /**
   * Whether the target is the record that contains this record in the file. If the stored target differs from the
   * target in the file, the import omits this record.
   */
  readonly isParent?: true;
  /** Returns an issue if the target exists but does not match the record. */
  readonly check?: (target: JsonObject, record: JsonObject, orgId: string) => KeyedIssue | undefined;
}
