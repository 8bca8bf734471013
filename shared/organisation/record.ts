import { hash } from 'node:crypto';
import type { DescMessage } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject, takeAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { DocumentFault, documentFields, readMessage } from './message.ts';
import { type Credential, type Credentials, partitionOf, type Section } from './section.ts';

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
for (const field of documentFields.values()) if (field.schema !== undefined) schemas.set(field.name, field.schema);

/**
 * Reads one record from JSON, by the wire's JSON mapping (contract 1.1).
 * @param value parsed JSON of one element of the section
 * @param checked whether the rules of its fields are looked at (contract 3); once for each record is enough
 * @throws DocumentFault
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
    throw new DocumentFault([{ path: section.inner, reason: 'value is required' }]);
  return recordOf(section, json, orgId, section.otpEmail === true && hasOtpEmail(value));
}

/** Makes a record of canonical JSON, which is changed: defaults are filled in and credentials taken out. */
export function recordOf(section: Section, json: JsonObject, orgId: string, otpEmail: boolean): OrganisationRecord {
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
    partition: partitionOf(record.orgId, record.section),
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
    throw new DocumentFault([{ path: 'otpEmail', reason: 'duplicate field "otp_email"' }]);
  }
  const flag = value.otpEmail ?? value.otp_email ?? false;
  if (typeof flag !== 'boolean') throw new DocumentFault([{ path: 'otpEmail', reason: 'expected true or false' }]);
  return flag;
}
