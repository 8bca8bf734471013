import { hash } from 'node:crypto';
import { type DescField, type DescMessage, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';
import { isJsonObject, type JsonObject, takeAt, valueAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { checkRules } from './rules.ts';
import { type Credential, type Credentials, type Section, sectionPartition } from './section.ts';

/** Something in a document that is not as the contract says. */
export interface FieldIssue {
  /** Where, from the record on: `user.email.email`; empty for the record itself. */
  readonly path: string;
  readonly reason: string;
  /** How ZITADEL puts it, where it does. */
  readonly message?: string;
}

/** A part of a document is not as the contract says, in one or more of its fields. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
  readonly issues: readonly FieldIssue[];

  constructor(fields: readonly FieldIssue[]) {
    super(fields.map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`)).join('; '));
    this.issues = fields;
  }
}

/** A field of the organisation document, in either of its shapes (zitadel 2). */
export interface OrganisationField {
  /** Its JSON name. */
  readonly name: string;
  readonly list: boolean;
  /** What its value, or each element of its list, is; none where it is a string or an enum. */
  readonly schema: DescMessage | undefined;
}

/**
 * The fields of an organisation in both shapes by both of their spellings. A v2 export is also taken where a v1 document
 * is expected, so the shapes are read as one: a field that both have is v2's, and v1 adds its own four.
 */
export const organisationFields: ReadonlyMap<string, OrganisationField> = new Map(
  [...DataOrgV1Schema.fields, ...DataOrgSchema.fields].flatMap((field) => {
    const described = describe(field);
    return [
      [field.name, described],
      [field.jsonName, described],
    ];
  }),
);

function describe(field: DescField): OrganisationField {
  return {
    name: field.jsonName,
    list: field.fieldKind === 'list',
    schema: field.fieldKind === 'list' || field.fieldKind === 'message' ? field.message : undefined,
  };
}

/**
 * Reads a message by the wire's JSON mapping (zitadel 1.1), and gives it back in canonical form: fields in the
 * descriptor's order under their JSON names, defaults left out.
 * @param checked where the rules that the descriptor carries are to be looked at (zitadel 3): the section, whose
 * credentials may be missing, since an export without them is as good as one with them
 * @throws InvalidRecordError
 */
export function readMessage(schema: DescMessage, value: unknown, checked: Checked | undefined): JsonObject {
  const message = decode(schema, value);
  const encoded = toJson(schema, message);
  const json = isJsonObject(encoded) ? encoded : {};
  const faults =
    checked === undefined ? [] : checkRules(schema, message).filter(({ path }) => !isLeftOut(checked, json, path));
  if (faults.length > 0) throw new InvalidRecordError(faults);
  return json;
}

type Checked = Pick<Section, 'credentials'>;

function isLeftOut({ credentials = [] }: Checked, json: JsonObject, path: string): boolean {
  return credentials.some((credential) => credential.path === path) && valueAt(json, path) === undefined;
}

function decode(schema: DescMessage, value: unknown): Message {
  try {
    return fromJson(schema, asJson(value), { ignoreUnknownFields: true });
  } catch (error) {
    throw new InvalidRecordError([{ path: '', reason: error instanceof Error ? error.message : String(error) }]);
  }
}

/** What JSON.parse returns is JSON: this is where the types are told so. */
function asJson(value: unknown): JsonValue {
  return value as JsonValue;
}

/** A record of the organisation document in canonical form, apart from its credentials. */
export interface OrganisationRecord {
  readonly section: Section;
  readonly orgId: string;
  readonly json: JsonObject;
  /** Canonical JSON: fields in the descriptors' order, defaults left out, credentials taken out. */
  readonly body: string;
  /** SHA-256 of `body`, base64url. */
  readonly digest: string;
  readonly credentials: Credentials;
  /** A password that the document holds in clear: it is hashed before it is stored. */
  readonly clearPassword: string | undefined;
  readonly state: string | undefined;
  readonly otpEmail: boolean;
}

const schemas = new Map<string, DescMessage>();
for (const field of organisationFields.values()) if (field.schema !== undefined) schemas.set(field.name, field.schema);

/**
 * Reads one record from JSON, by the wire's JSON mapping (zitadel 1.1).
 * @param value parsed JSON of one element of the section
 * @param checked whether the rules of its fields are looked at (zitadel 3); once for each record is enough
 * @throws InvalidRecordError
 */
export function readRecord(section: Section, value: unknown, orgId: string, checked = false): OrganisationRecord {
  const schema = schemas.get(section.name);
  if (schema === undefined) throw new Error(`${section.name} is no section of the organisation document`);
  const json = readMessage(
    schema,
    section.fromV1 === undefined ? value : section.fromV1(value),
    checked ? section : undefined,
  );
  if (section.inner !== undefined && json[section.inner] === undefined)
    throw new InvalidRecordError([{ path: section.inner, reason: 'value is required' }]);
  return toRecord(section, json, orgId, section.otpEmail === true && hasOtpEmail(value));
}

/** Makes a record of canonical JSON, which is changed: defaults are filled in and credentials taken out. */
export function toRecord(section: Section, json: JsonObject, orgId: string, otpEmail: boolean): OrganisationRecord {
  section.normalise?.(json, orgId);
  const credentials: { [Field in Credential['field']]?: string } = {};
  for (const { path, field } of section.credentials ?? []) {
    const taken = takeAt(json, path);
    if (taken !== undefined) credentials[field] = taken;
  }
  const clearPassword = section.clearPassword === undefined ? undefined : takeAt(json, section.clearPassword);
  const state = json.state ?? json.orgState;
  return {
    section,
    orgId,
    json,
    ...sealed(json),
    credentials,
    clearPassword: credentials.passwordHash === undefined ? clearPassword : undefined,
    state: typeof state === 'string' ? state : undefined,
    otpEmail,
  };
}

/** A record's text and what that is recognised by, made anew when its JSON has changed. */
export function sealed(json: JsonObject): Pick<OrganisationRecord, 'body' | 'digest'> {
  const body = JSON.stringify(json);
  return { body, digest: hash('sha256', body, 'base64url') };
}

/** The fields in which a record is stored, apart from those that say when. */
export function storedFields(record: OrganisationRecord): DocumentFields {
  return {
    partition: sectionPartition(record.orgId, record.section),
    orgId: record.orgId,
    body: record.body,
    digest: record.digest,
    ...record.credentials,
    ...(record.state === undefined ? {} : { state: record.state }),
    ...(record.otpEmail ? { otpEmail: true } : {}),
  };
}

/** Our own field beside ZITADEL's, in both spellings. */
function hasOtpEmail(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if ('otpEmail' in value && 'otp_email' in value) {
    throw new InvalidRecordError([{ path: 'otpEmail', reason: 'duplicate field "otp_email"' }]);
  }
  const flag = value.otpEmail ?? value.otp_email ?? false;
  if (typeof flag !== 'boolean') throw new InvalidRecordError([{ path: 'otpEmail', reason: 'expected true or false' }]);
  return flag;
}
