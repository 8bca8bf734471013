import { hash, randomUUID } from 'node:crypto';
import { shortenedText } from '../errors/identityError.ts';
import { formatPath, type JsonPath } from '../json/jsonError.ts';
import { isEmpty, isJsonObject, type JsonObject, putAt } from '../json/jsonObject.ts';
import { valueInEitherSpelling } from '../json/spelling.ts';
import { TOO_LARGE } from '../organisation/exportedForm.ts';
import { type FieldIssue, InvalidRecordError } from '../organisation/message.ts';
import { optionalPart } from '../organisation/optionalParts.ts';
import { type InvalidElement, type OrganisationRecord, readRecord } from '../organisation/record.ts';
import { formatIssue, type RecordIssue } from '../organisation/relations.ts';
import { type Credentials, isList, type Section } from '../organisation/sections/section.ts';
import { usualState } from '../organisation/states.ts';
import { nothingUnknown } from '../organisation/unknownContent.ts';
import { MAX_DOCUMENT_BYTES } from '../store/store.ts';
import type { ExportFileItem } from './reader.ts';
import { MAX_REASON_CHARACTERS, RecordParts } from './recordParts.ts';

export type RecordItem = Pick<ExportFileItem, 'text' | 'path' | 'isTooLarge'>;

interface RecordReading {
  readonly orgId: string;
  /**
   * True if the rules of the record's fields must be checked. If the same file is read several times, one of the
   * readings must check them.
   */
  readonly checked: boolean;
  /** Returns the record's value together with the lists that a v1 file contains next to the record. */
  readonly complete?: (value: unknown) => unknown;
}

/**
 * Reads a record of a file. If the record is invalid, `invalid` of the result contains the issue, and the other fields
 * contain everything that can be read.
 * @param parsed the parsed text of `item`. The function may use this object as the record's JSON. If `parsed` is
 *   absent, the function parses the text.
 */
export function readFileRecord(
  section: Section,
  item: RecordItem,
  { orgId, checked, complete = (value) => value }: RecordReading,
  parsed?: unknown,
): OrganisationRecord {
  if (item.isTooLarge === true) return unreadableRecord(section, item, orgId, tooLargeIssue(item.path));
  const value = parsed ?? JSON.parse(item.text);
  const reason = emptyReason(section, value);
  if (reason !== undefined)
    return unreadableRecord(section, item, orgId, invalidIssue([{ field: formatPath(item.path), problem: reason }]));
  try {
    return readRecord(section, complete(value), orgId, checked);
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error;
    const remaining = readWithoutInvalid(section, () => complete(JSON.parse(item.text)), orgId, error);
    if (!(remaining instanceof InvalidRecordError)) return remaining;
    const issue = invalidRecordIssue(causes(section, remaining), item.path);
    return (
      readLeniently(() => readRecord(section, complete(JSON.parse(item.text)), orgId), issue) ??
      unreadableRecord(section, item, orgId, issue)
    );
  }
}

/**
 * The maximum number of attempts to read a record. Another attempt is needed if the removal of invalid parts reveals
 * further invalid parts.
 */
const MAX_READINGS = 20;

/**
 * Removes the invalid parts of a record, and reads the remaining record. Returns the last error if an import must not
 * leave out one of these parts, or after too many attempts.
 */
function readWithoutInvalid(
  section: Section,
  parse: () => unknown,
  orgId: string,
  first: InvalidRecordError,
): OrganisationRecord | InvalidRecordError {
  // Look at the known issues before parsing the record again, because a file may contain millions of invalid records.
  if (first.issues.some(({ path }) => optionalPart(section, path) === undefined)) return first;
  const parts = new RecordParts(parse());
  const leftOut: InvalidElement[] = [];
  let error: InvalidRecordError = first;
  for (let readings = 0; readings < MAX_READINGS; readings++) {
    const removed = parts.remove(section, error);
    if (removed === undefined) return error;
    leftOut.push(...removed);
    try {
      return { ...readRecord(section, structuredClone(parts.value), orgId, true), leftOut };
    } catch (next) {
      if (!(next instanceof InvalidRecordError)) throw next;
      error = next;
    }
  }
  return error;
}

/**
 * Returns the error with only the issues that make the import reject the record. Issues of parts that an import may
 * leave out do not count, unless all issues are of this kind.
 */
function causes(section: Section, error: InvalidRecordError): InvalidRecordError {
  const needed = error.issues.filter(({ path }) => optionalPart(section, path) === undefined);
  return needed.length === 0 ? error : new InvalidRecordError(needed);
}

/**
 * Returns the reason why a value in place of a record is not a record, if this is visible without decoding its fields.
 * This check must be cheap: a list element such as `null` is short, so a file may contain hundreds of millions of them.
 */
function emptyReason(section: Section, value: unknown): string | undefined {
  if (value === null) return 'unexpected null in a list';
  if (!isJsonObject(value)) return 'expected an object';
  return isList(section) && isEmpty(value) ? 'the record is empty' : undefined;
}

/** Reads an invalid record without checking its rules. Returns undefined if a value has a wrong type. */
function readLeniently(read: () => OrganisationRecord, invalid: RecordIssue): OrganisationRecord | undefined {
  try {
    return { ...read(), invalid };
  } catch (error) {
    if (error instanceof InvalidRecordError) return undefined;
    throw error;
  }
}

function tooLargeIssue(path: JsonPath): RecordIssue {
  const limit = `${MAX_DOCUMENT_BYTES} bytes`;
  const key = `${formatIssue(TOO_LARGE)}; ${formatPath(path)}`;
  return { id: '', key, reason: 'value_too_long', params: { field: formatPath(path), limit } };
}

const MAX_LISTED_FIELDS = 10;

/**
 * Returns the issue of an invalid record: ZITADEL's message for the first broken rule, if any, and the paths of the
 * first 10 invalid fields in the file.
 */
export function invalidRecordIssue({ issues }: InvalidRecordError, path: JsonPath): RecordIssue {
  const fields = issues.slice(0, MAX_LISTED_FIELDS).map((issue) => invalidField(issue, path));
  return invalidIssue(fields, issues.length - fields.length, issues[0]?.message);
}

/**
 * @param more the number of further invalid fields
 * @param zitadels the message that ZITADEL returns for the first problem, if any
 */
function invalidIssue(fields: readonly InvalidElement[], more = 0, zitadels?: string): RecordIssue {
  const [first = '', ...others] = [
    ...fields.map(({ field, problem }) => `${field}: ${problem}`),
    ...(more === 0 ? [] : [`and ${more} more`]),
  ];
  const key = [...(zitadels === undefined ? [] : [zitadels]), first, ...others].join('; ');
  const further = others.length === 0 ? {} : { others: others.join('; ') };
  const [{ field, problem } = { field: undefined, problem: first }] = fields;
  return { id: '', key, reason: 'value_invalid', params: { field, problem, ...further } };
}

function invalidField({ path: field, reason }: FieldIssue, path: JsonPath): InvalidElement {
  const problem = shortenedText(reason, MAX_REASON_CHARACTERS);
  return { field: `${formatPath(path)}${field === '' ? '' : `.${field}`}`, problem };
}

/**
 * Creates a record from the text of an invalid record, of which only ids and credentials can be read. The new record's
 * body contains the digest of the text, so that a comparison of two files detects a changed text. If the text was too
 * large to keep, the body contains a random id instead of the digest, so that the new record equals no other record.
 */
function unreadableRecord(
  section: Section,
  { text, path: place, isTooLarge }: RecordItem,
  orgId: string,
  invalid: RecordIssue,
): OrganisationRecord {
  const value = isTooLarge === true ? undefined : JSON.parse(text);
  const digest = hash('sha256', isTooLarge === true ? formatPath(place) : text, 'base64url');
  const usual = usualState(section);
  const json: JsonObject = {};
  for (const path of [...section.key, ...section.error.id])
    if (!/^[$=]/.test(path)) putText(json, path, textIn(value, path));
  const credentials: { -readonly [Field in keyof Credentials]: string } = {};
  for (const { path, field } of section.credentials ?? []) {
    const credential = textIn(value, path);
    if (credential !== undefined) credentials[field] = credential;
  }
  return {
    section,
    orgId,
    json,
    body: JSON.stringify({ ...json, unreadable: isTooLarge === true ? randomUUID() : digest }),
    digest,
    credentials,
    clearPassword: undefined,
    givenPassword: undefined,
    state: usual === undefined ? undefined : { value: usual, source: 'unknown' },
    otpEmail: undefined,
    unknown: nothingUnknown,
    invalid,
  };
}

function putText(json: JsonObject, path: string, text: string | undefined): void {
  if (text !== undefined) putAt(json, path, text);
}

function textIn(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const text = valueInEitherSpelling(value, path);
  return typeof text === 'string' ? text : undefined;
}
