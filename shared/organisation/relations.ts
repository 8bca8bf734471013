// The relations between records: unique names, reserved names and references.

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
 * The path of a field in a record's JSON, such as `project.name`. `$orgId` is the record's organisation; a path that
 * starts with `=` is the constant text that follows.
 */
export type FieldPath = string;

/**
 * A `FieldPath` that may expand a list into one field per element: `roleKeys[]`, `idps[].configId`. A condition selects
 * elements: `idps[ownerType=IDP_OWNER_TYPE_ORG].idpId`.
 */
export type ListPath = string;

/**
 * A record's issue, with ZITADEL's id and key. The import response's `errors` contains it as `ID=<id> Message=<key>`
 * (zitadel 5.7).
 */
export type RecordIssue = KeyedIssue | (AnyReasoned & { readonly id: string; readonly key: string });

/** A record's issue whose reason follows from ZITADEL's key. */
export interface KeyedIssue {
  /** Empty if ZITADEL's message has no id; then `key` is the whole message. */
  readonly id: string;
  readonly key: ZitadelKey;
  readonly reason?: undefined;
  /** Parameters of the reason, in addition to those that follow from the key. */
  readonly params?: IssueParams;
}

/** Formats an issue like ZITADEL's error messages. */
export function formatIssue({ id, key }: RecordIssue): string {
  return id === '' ? key : `ID=${id} Message=${key}`;
}

/** Converts an issue for the import response: ZITADEL's message, and the reason with its parameters, if any. */
export function reportedIssue(issue: RecordIssue): ReportedIssue {
  const { reason, params }: Meaning = issue.reason === undefined ? zitadelErrors[issue.key] : { reason: issue.reason };
  const all = { ...params, ...issueParams(issue.params ?? {}) };
  return { message: formatIssue(issue), reason, ...(Object.keys(all).length === 0 ? {} : { params: all }) };
}

/** A unique name. Its scope is the instance, or the organisation if `parts` starts with `$orgId`. */
export interface UniqueName {
  readonly type: string;
  readonly parts: readonly FieldPath[];
  /**
   * The issue of another record with the same name; `adjusted` if the import drops the section's adjusted field
   * instead.
   */
  readonly taken: KeyedIssue | 'adjusted';
  /** Whether all names that look alike count as the same name. By default, only names that differ in case do. */
  readonly lookAlikes?: true;
  /** A boolean field that is true in records that claim the name; by default all records do. */
  readonly onlyIf?: FieldPath;
  /**
   * A boolean field that decides whether login names contain the organisation's domain. A record claims the name only
   * if the field differs from what applies without the record.
   */
  readonly onlyIfLoginNamesChange?: FieldPath;
  /** Whether the scope is the organisation. Unlike `$orgId` in `parts`, the id keeps its case. */
  readonly perOrganisation?: true;
  /** Whether the scope is the organisation when its login names contain its domain (zitadel 3.4). */
  readonly perOrganisationByDomainPolicy?: boolean;
}

/** A name that new records must not use if another organisation has claimed it. */
export interface ReservedName {
  /** The `UniqueName.type` of the claims. */
  readonly type: string;
  /** The field whose text ends in the name, after the last `@`. */
  readonly suffixOf: FieldPath;
  readonly reserved: KeyedIssue;
}

/** A reference to a record that must exist before the referring record is written. */
export interface Reference {
  readonly collection: Collection;
  /** The key's parts. At most one part expands a list; each element then refers to a record. */
  readonly key: readonly ListPath[];
  readonly missing: KeyedIssue;
  /**
   * Replaces the issue `missing` if the record also refers to a target in this collection that belongs to the record's
   * own organisation.
   */
  readonly missingBesideOwn?: { readonly collection: Collection; readonly issue: KeyedIssue };
  /**
   * The warning if the target is missing. The record is imported anyway, because the importing instance may get the
   * target later. An empty last part of `key` is still an error.
   */
  readonly keptIfMissing?: 'provider_missing' | 'linked_provider_missing';
  /** Whether the reference is optional: an empty last part of `key` refers to nothing. */
  readonly optional?: true;
  /** What happens if the target belongs to another organisation; by default it is accepted. */
  readonly ifForeign?: 'notCarried' | KeyedIssue;
  /**
   * A unique name, by type and parts. If any record has claimed this name, the target may belong to another
   * organisation.
   */
  readonly permittedBy?: { readonly type: string; readonly parts: readonly FieldPath[] };
  /** The target's field with the id of another organisation that may refer to the target; only with `check`. */
  readonly openTo?: FieldPath;
  /**
   * The warning if the target belongs to the record's own organisation. The record is then omitted. By default, such a
   * target is accepted.
   */
  readonly ifOwn?: RecordWarning;
  /**
   * Whether the target is the record that contains this record in the file. If the stored target differs from the
   * file's, the import omits this record.
   */
  readonly isParent?: true;
  /** Returns an issue if the existing target does not suit the record. */
  readonly check?: (target: JsonObject, record: JsonObject, orgId: string) => KeyedIssue | undefined;
}
