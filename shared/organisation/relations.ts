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
 * The path of a field in a record's JSON, such as `project.name`. There are two exceptions: `$orgId` stands for the id
 * of the record's organisation, and a path that starts with `=` stands for the text after `=`.
 */
export type FieldPath = string;

/**
 * A `FieldPath` that may lead through a list. For a path such as `roleKeys[]` or `idps[].configId`, there is one value
 * for each element of the list. Brackets with a condition select some of the elements, as in
 * `idps[ownerType=IDP_OWNER_TYPE_ORG].idpId`.
 */
export type ListPath = string;

/**
 * An issue of a record, with ZITADEL's id and key. An import's response lists the issue in `errors` as `ID=<id>
 * Message=<key>` (zitadel 5.7).
 */
export type RecordIssue = KeyedIssue | (AnyReasoned & { readonly id: string; readonly key: string });

/** An issue with an error key of ZITADEL, from which the reason of the issue follows. */
export interface KeyedIssue {
  /** The id of ZITADEL's message. If this is empty, ZITADEL's message has no id, and `key` is the whole message. */
  readonly id: string;
  readonly key: ZitadelKey;
  readonly reason?: undefined;
  /** The parameters of the reason, except those that follow from the key. */
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
 * A name that must be unique in the instance. If the first of `parts` is `$orgId`, the name must be unique only in the
 * record's organisation.
 */
export interface UniqueName {
  readonly type: string;
  readonly parts: readonly FieldPath[];
  /**
   * The issue if another record has the same name. If this is `adjusted`, there is no issue: the import drops the field
   * of `Section.adjusted` from the record instead.
   */
  readonly taken: KeyedIssue | 'adjusted';
  /**
   * True if two names that look alike count as the same name. If absent, only names that differ at most in case count
   * as the same name.
   */
  readonly lookAlikes?: true;
  /**
   * The path of a boolean field. A record claims the name only if the field is true. If `onlyIf` is absent, every
   * record claims the name.
   */
  readonly onlyIf?: FieldPath;
  /**
   * Only for domain policies: the path of a boolean field that decides whether login names contain the organisation's
   * domain. A policy claims the name only if this field differs from the instance's default.
   */
  readonly onlyIfLoginNamesChange?: FieldPath;
  /**
   * True if the name must be unique in its organisation only. The claim then contains the organisation's id unchanged,
   * whereas `$orgId` in `parts` is converted like the other parts, for example to lower case.
   */
  readonly perOrganisation?: true;
  /**
   * True if the name must be unique in its organisation only, provided that login names contain the organisation's
   * domain (zitadel 3.4). Otherwise the name must be unique in the instance.
   */
  readonly perOrganisationByDomainPolicy?: boolean;
}

/** A name that a new record must not use if another organisation has claimed it. */
export interface ReservedName {
  /** The `UniqueName.type` of the claims that reserve such names. */
  readonly type: string;
  /** The path of a text, such as an e-mail address. The name is the part after the last `@` of the text. */
  readonly suffixOf: FieldPath;
  readonly reserved: KeyedIssue;
}

/** A reference to a record that must exist before the referring record is written. */
export interface Reference {
  readonly collection: Collection;
  /**
   * The parts of the key of the target, which is the record to which the reference leads. At most one part may lead
   * through a list. In that case, each element of the list refers to a separate target.
   */
  readonly key: readonly ListPath[];
  readonly missing: KeyedIssue;
  /**
   * If the record also refers to a record of `collection` that belongs to the record's own organisation, the import
   * reports `issue` instead of `missing`.
   */
  readonly missingBesideOwn?: { readonly collection: Collection; readonly issue: KeyedIssue };
  /**
   * Present if the import must write the record although the target is missing, because a later import may add the
   * target. The value is the warning about this. If the last part of `key` is empty, the import rejects the record all
   * the same.
   */
  readonly keptIfMissing?: 'provider_missing' | 'linked_provider_missing';
  /** True if the record is valid without the reference. The reference is absent if the last part of `key` is empty. */
  readonly optional?: true;
  /**
   * The issue if the target belongs to another organisation. If this is `notCarried`, the import omits the record, and
   * reports no issue. If absent, the target may belong to any organisation.
   */
  readonly ifForeign?: 'notCarried' | KeyedIssue;
  /**
   * The type and the parts of a unique name. The target may belong to another organisation if a record has a claim on
   * this name.
   */
  readonly permittedBy?: { readonly type: string; readonly parts: readonly FieldPath[] };
  /**
   * The path of a field of the target that contains the id of another organisation. The records of that organisation
   * may refer to the target too. `check` must then be present.
   */
  readonly openTo?: FieldPath;
  /**
   * Present if the import must omit the record if the target belongs to the record's own organisation. The value is the
   * warning about this.
   */
  readonly ifOwn?: RecordWarning;
  /**
   * True if the target is the outer record that contains this record in the file. The import omits this record if the
   * outer record in the database differs from the outer record in the file.
   */
  readonly isParent?: true;
  /** Returns an issue if the target exists but does not match the record. */
  readonly check?: (target: JsonObject, record: JsonObject, orgId: string) => KeyedIssue | undefined;
}
