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
 * The path of a field in a record's JSON, such as `project.name`. `$orgId` stands for the record's organisation; a path
 * that starts with `=` stands for the text that follows.
 */
export type FieldPath = string;

/**
 * A `FieldPath` that may expand a list, to one field for each element: `roleKeys[]`, `idps[].configId`. A condition
 * selects elements: `idps[ownerType=IDP_OWNER_TYPE_ORG].idpId`.
 */
export type ListPath = string;

/**
 * A record's issue by ZITADEL's id and key. The import response's `errors` lists it as `ID=<id> Message=<key>`
 * (zitadel 5.7).
 */
export type RecordIssue = KeyedIssue | (AnyReasoned & { readonly id: string; readonly key: string });

/** A record's issue with the reason of ZITADEL's key. */
export interface KeyedIssue {
  /** Empty if ZITADEL's message has no id; then `key` is the whole message. */
  readonly id: string;
  readonly key: ZitadelKey;
  readonly reason?: undefined;
  /** The parameters of the reason, besides those by the key. */
  readonly params?: IssueParams;
}

/** Formats an issue like ZITADEL's error messages. */
export function formatIssue({ id, key }: RecordIssue): string {
  return id === '' ? key : `ID=${id} Message=${key}`;
}

/** Returns an issue as the import response has it: ZITADEL's message, and the reason with its parameters, if it has some. */
export function reportedIssue(issue: RecordIssue): ReportedIssue {
  const { reason, params }: Meaning = issue.reason === undefined ? zitadelErrors[issue.key] : { reason: issue.reason };
  const all = { ...params, ...issueParams(issue.params ?? {}) };
  return { message: formatIssue(issue), reason, ...(Object.keys(all).length === 0 ? {} : { params: all }) };
}

/** A unique name. Its scope is the instance, or the organisation where `parts` starts with `$orgId`. */
export interface UniqueName {
  readonly type: string;
  readonly parts: readonly FieldPath[];
  /** The issue of another record with the name; `adjusted` if that is imported without the section's adjusted field. */
  readonly taken: KeyedIssue | 'adjusted';
  /** Whether a name is taken by all names that look alike, not only by those that differ in case. */
  readonly lookAlikes?: true;
  /** A boolean field that is true in records that claim the name; by default all records do. */
  readonly onlyIf?: FieldPath;
  /**
   * A boolean field that decides whether login names contain the organisation's domain; only records in which it differs
   * from what holds without the record claim the name.
   */
  readonly onlyIfLoginNamesChange?: FieldPath;
  /** Whether the scope is the organisation. Unlike `$orgId` in `parts`, its id keeps its case. */
  readonly perOrganisation?: true;
  /** Whether the scope is the organisation when its login names contain its domain (zitadel 3.4). */
  readonly perOrganisationByDomainPolicy?: boolean;
}

/** A name that new records must not use when another organisation has claimed it. */
export interface ReservedName {
  /** The `UniqueName.type` of the claims. */
  readonly type: string;
  /** The field whose text contains the name, after its last `@`. */
  readonly suffixOf: FieldPath;
  readonly reserved: KeyedIssue;
}

/** A reference to a record that must exist before this one is written. */
export interface Reference {
  readonly collection: Collection;
  /** The key's parts. At most one of them expands a list; then each element refers to a record. */
  readonly key: readonly ListPath[];
  readonly missing: KeyedIssue;
  /** The issue in place of `missing` where the record's target in another collection is its organisation's own. */
  readonly missingBesideOwn?: { readonly collection: Collection; readonly issue: KeyedIssue };
  /**
   * The warning with which a record is kept although its target is missing, because the target instance may get it later.
   * A reference with an empty last part of `key` is still an error.
   */
  readonly keptIfMissing?: 'provider_missing' | 'linked_provider_missing';
  /** Whether the reference is optional: an empty last part of `key` refers to nothing. */
  readonly optional?: true;
  /** The outcome for a foreign target, one of another organisation; by default it is accepted. */
  readonly ifForeign?: 'notCarried' | KeyedIssue;
  /** A unique name which permits a foreign target if any record has claimed it: the name's type and parts. */
  readonly permittedBy?: { readonly type: string; readonly parts: readonly FieldPath[] };
  /** The target's field with an organisation for which it does not count as foreign; only beside `check`. */
  readonly openTo?: FieldPath;
  /** The warning of a record that is not carried because its target is of the same organisation; by default it is accepted. */
  readonly ifOwn?: RecordWarning;
  /**
   * Whether the target is the record that contains this one in the file. Unless it is stored with the parent's content,
   * this record is not carried.
   */
  readonly isParent?: true;
  /** Validates the existing target. */
  readonly check?: (target: JsonObject, record: JsonObject, orgId: string) => KeyedIssue | undefined;
}
