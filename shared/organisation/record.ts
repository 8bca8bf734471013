import type { JsonPath } from '../json/jsonError.ts';
import { isEmpty, isJsonObject, type JsonObject, putAt, takeAt, textAt, valueAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { readKept, splitKept } from './additionalFields.ts';
import { type CheckedSection, InvalidRecordError, readMessage } from './message.ts';
import { inWrittenOrder, reorder, serialise } from './recordBody.ts';
import { recordSchema } from './recordSchema.ts';
import type { RecordIssue } from './relations.ts';
import { MISSING } from './rules.ts';
import {
  type Adjustment,
  type Credential,
  type Credentials,
  isList,
  type Section,
  sectionPartition,
} from './sections/section.ts';
import { isDeleted, type RecordState, usualState } from './states.ts';
import { nothingUnknown, type UnknownContent } from './unknownContent.ts';

/** A text that the import drops because it is invalid or repeated. */
export interface DroppedText {
  readonly field: string;
  readonly text: string;
  readonly isRepeated: boolean;
}

export interface ConvertedText {
  readonly field: string;
  readonly value: string;
  readonly stored: string;
}

/** An invalid part of a record, such as an element of a list, and the problem. */
export interface InvalidElement {
  /** The part's path within the record, such as `user.idps[0]`. */
  readonly field: string;
  readonly problem: string;
}

/** A record in canonical form, without its credentials. */
export interface OrganisationRecord {
  readonly section: Section;
  readonly orgId: string;
  readonly json: JsonObject;
  /**
   * The canonical JSON as a text: the fields are in the order of ZITADEL's definition, without default values and
   * credentials.
   */
  readonly body: string;
  /** The SHA-256 hash of `body`, in base64url. */
  readonly digest: string;
  readonly credentials: Credentials;
  /** A clear password that must be hashed before the record is stored; undefined if the file contains a hash too. */
  readonly clearPassword: string | undefined;
  /** The clear password from the file. It must satisfy the policy even if the file also contains a hash. */
  readonly givenPassword: string | undefined;
  /** The record's state; undefined if no record of the section has a state. */
  readonly state: RecordState | undefined;
  /** True if the person has the OTP e-mail factor; undefined if this is not in the file. */
  readonly otpEmail: boolean | undefined;
  /** The credentials that the source lacks, according to the file. An overwrite removes these credentials. */
  readonly lacks?: readonly Credential[];
  /** Fields and enumeration values that the file contains, but ZITADEL's definition of the record does not. */
  readonly unknown: UnknownContent;
  /**
   * The JSON before its values were converted; absent if no value was converted. Reports identify the record by the
   * values in this JSON, because the file contains them.
   */
  readonly given?: JsonObject;
  readonly dropped?: readonly DroppedText[];
  readonly converted?: readonly ConvertedText[];
  /** Invalid parts that the import leaves out, each with a warning in the report. */
  readonly leftOut?: readonly InvalidElement[];
  /** How to report that the import drops a field because of the organisation's other records or policies. */
  readonly adjustment?: Adjustment;
  /**
   * The issue of a record that breaks a rule of its definition, or that cannot be decoded. Such a record is not
   * imported.
   */
  readonly invalid?: RecordIssue;
  /**
   * The outer record, if the file contains this record inside another record. The values of the outer record are
   * already converted.
   */
  readonly parent?: OrganisationRecord;
}

/**
 * Parses a record from the JSON form of protobuf messages (zitadel 1.1).
 * @param value the parsed JSON of one element of the section. The function may change it in place and use it as the
 * record's JSON.
 * @param checked whether to check the rules of the fields (zitadel 3); if a record is read several times, one check is
 *   enough
 * @throws InvalidRecordError if the record is invalid
 */
export function readRecord(section: Section, value: unknown, orgId: string, checked = false): OrganisationRecord {
  const converted = section.v1?.convert === undefined ? value : section.v1.convert(value);
  const { json, unknown, state, otpEmail } = readFields(section, converted, checked ? section : undefined);
  if (section.inner !== undefined && json[section.inner] === undefined)
    throw new InvalidRecordError([{ path: section.inner, reason: MISSING }]);
  // An empty record is an error: no exporter writes empty records, and a small file could contain millions of them.
  if (checked && isList(section) && isEmpty(json))
    throw new InvalidRecordError([{ path: '', reason: 'the record is empty' }]);
  if (checked) checkState({ json, unknown }, 'state');
  const repeated = section.repeated === undefined ? '' : textAt(json, section.repeated.field, '');
  const record = assembleRecord(section, json, orgId, { givenState: state, otpEmail, unknown });
  if (section.repeated === undefined || repeated === '') return record;
  const { field, by } = section.repeated;
  const stored = textAt(record.json, by, orgId);
  return stored === repeated ? record : { ...record, converted: [{ field, value: repeated, stored }] };
}

/**
 * Reads the fields in ZITADEL's definition of a record, and the additional fields that the section keeps. `value` may
 * contain only some of the fields.
 * @throws InvalidRecordError if a field is invalid
 */
export function readFields(section: Section, value: unknown, checked: CheckedSection | undefined) {
  const { defined, presentFields } = splitKept(section, value);
  const { json, unknown } = readMessage(recordSchema(section), defined, checked);
  const { state, otpEmail, values } = readKept(presentFields);
  for (const [path, kept] of values) putAt(json, path, kept);
  if (state !== undefined && state !== usualState(section)) json.state = state;
  return { json, unknown, state, otpEmail };
}

/**
 * Rejects an unknown state, because the decoder would ignore it, and a user without a state can log in. Rejects the
 * state of a deleted record too, because in the database this state means that a deletion is in progress.
 * @param path the path of the field that contains the state
 * @throws InvalidRecordError if the state is unknown, or is the state of a deleted record
 */
export function checkState(
  { json, unknown }: Pick<OrganisationRecord, 'json' | 'unknown'>,
  path: 'state' | 'orgState',
): void {
  const value = json[path];
  if (typeof value === 'string' && isDeleted(value))
    throw new InvalidRecordError([
      { path, reason: `${value} is the state of a deleted record: remove the record from the file` },
    ]);
  const state = unknown.values.find((unknownValue) => unknownValue.path === path);
  if (state === undefined) return;
  const example = path === 'orgState' ? 'ORG_STATE_ACTIVE' : 'USER_STATE_ACTIVE';
  const reason = `unknown ${path} ${JSON.stringify(state.value)}: expected a name, such as "${example}"`;
  throw new InvalidRecordError([{ path, reason }]);
}

/**
 * Creates a record from the JSON of its fields. Changes `json` in place: converts it to canonical form, and removes the
 * credentials.
 */
export function toRecord(section: Section, json: JsonObject, orgId: string): OrganisationRecord {
  return assembleRecord(section, json, orgId, { otpEmail: undefined, unknown: nothingUnknown });
}

function assembleRecord(
  section: Section,
  json: JsonObject,
  orgId: string,
  fromFile: Pick<OrganisationRecord, 'otpEmail' | 'unknown'> & { readonly givenState?: string | undefined },
): OrganisationRecord {
  const isGiven = (fromFile.givenState ?? json.state ?? json.orgState) !== undefined;
  canonicalise(section, json, orgId);
  const credentials: { [Field in Credential['field']]?: string } = {};
  let givenPassword: string | undefined;
  for (const { path, field, clear } of section.credentials ?? []) {
    const credential = takeAt(json, path);
    if (credential !== undefined) credentials[field] = credential;
    if (clear !== undefined) givenPassword = takeAt(json, clear);
  }
  const state = json.state ?? json.orgState ?? usualState(section);
  const { body, digest } = serialise(json);
  return {
    section,
    orgId,
    json,
    body,
    digest,
    credentials,
    clearPassword: credentials.passwordHash === undefined ? givenPassword : undefined,
    givenPassword,
    state: typeof state === 'string' ? { value: state, source: isGiven ? 'given' : 'unknown' } : undefined,
    otpEmail: fromFile.otpEmail,
    unknown: fromFile.unknown,
  };
}

/**
 * Converts a record's JSON to its canonical form in place. Adds the missing values of `Section.defaults`. In some
 * sections, also derives a missing id, or sets the organisation's id.
 */
export function canonicalise(section: Section, json: JsonObject, orgId: string): void {
  section.canonicalise?.(json, orgId);
  const missing = section.defaults?.filter(({ path }) => valueAt(json, path) === undefined) ?? [];
  if (missing.length === 0) return;
  for (const { path, value } of missing) putAt(json, path, structuredClone(value));
  reorder(json, inWrittenOrder(recordSchema(section), json));
}

export interface NestedRecord {
  readonly record: OrganisationRecord;
  readonly path: JsonPath;
}

/**
 * Returns the records inside a record. Imports store these records separately.
 * @param path the path of the outer record in the file
 */
export function nestedRecords(
  { section: { nested }, json, orgId }: OrganisationRecord,
  path: JsonPath,
): NestedRecord[] {
  if (nested === undefined) return [];
  const { list, section, toJson } = nested;
  const elements: unknown = valueAt(json, list);
  if (!Array.isArray(elements)) return [];
  return elements.filter(isJsonObject).map((element, index) => ({
    record: toRecord(section, toJson(element, json), orgId),
    path: [...path, ...list.split('.'), index],
  }));
}

/** Builds the stored fields of a record, except its sequence and timestamps. */
export function storedFields(record: OrganisationRecord): DocumentFields {
  const { section, state } = record;
  // If the file does not contain the state, the record has the default state. Do not store it, because most records
  // have it.
  const isOmitted = state?.source === 'unknown' && usualState(section) !== undefined;
  return {
    partition: sectionPartition(record.orgId, section),
    orgId: record.orgId,
    body: record.body,
    digest: record.digest,
    ...record.credentials,
    ...(state === undefined || isOmitted ? {} : { state: state.value }),
    ...(record.otpEmail ? { otpEmail: true } : {}),
  };
}
