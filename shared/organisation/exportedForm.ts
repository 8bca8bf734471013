import { parseObject, putAt } from '../json/jsonObject.ts';
import { credentialFields } from '../store/documentFields.ts';
import { MAX_DOCUMENT_BYTES } from '../store/store.ts';
import { TOO_LONG_ID } from './lengthLimits.ts';
import { InvalidRecordError, readMessage } from './message.ts';
import type { OrganisationRecord } from './record.ts';
import { recordSchema } from './recordSchema.ts';
import type { FieldPath, RecordIssue } from './relations.ts';
import { mayHaveOtpEmail } from './sections/section.ts';
import { hasUsualFields } from './usualMessage.ts';

/**
 * Returns an issue if an import would reject the record after an export has written it. Imports call this function
 * before they store a record, because a single invalid record would make a whole export unusable.
 * @param changed the fields that have changed since the record was checked. If `changed` is absent, all fields are
 *   checked
 */
export function exportedFormIssue(record: OrganisationRecord, changed?: readonly FieldPath[]): RecordIssue | undefined {
  const isValid = changed !== undefined && hasUsualFields(recordSchema(record.section), record.json, changed);
  return (isValid ? undefined : ruleIssue(record)) ?? sizeIssue(record);
}

function ruleIssue({ section, json }: OrganisationRecord): RecordIssue | undefined {
  try {
    readMessage(recordSchema(section), json, section);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error;
    const { message, path = '', reason: problem = error.message } = error.issues[0] ?? {};
    const params = path === '' ? { problem } : { field: path, problem };
    return { id: '', key: message ?? error.message, reason: 'value_invalid', params };
  }
}

/** The maximum size of the fields that exports add to a record, for example the name of an identity provider. */
const MAX_ADDED_BYTES = 3_000;
export const TOO_LARGE: RecordIssue = {
  id: TOO_LONG_ID,
  key: `the record exceeds ${MAX_DOCUMENT_BYTES} bytes`,
  reason: 'value_too_long',
  params: { field: 'the record', limit: `${MAX_DOCUMENT_BYTES} bytes` },
};

function sizeIssue(record: OrganisationRecord): RecordIssue | undefined {
  const { body, credentials } = record;
  // This is an upper limit that can be computed fast: a UTF-16 code unit of the body needs at most 3 bytes in UTF-8. In
  // a credential, JSON may escape a code unit, which then needs 6 bytes.
  let mostBytes = MAX_ADDED_BYTES + 3 * body.length;
  for (const field of credentialFields) mostBytes += 6 * (credentials[field]?.length ?? 0);
  if (mostBytes <= MAX_DOCUMENT_BYTES) return undefined;
  // The database stores secrets in base64, which needs four bytes for every three bytes of a secret.
  const secretBytes = Object.values(credentials).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const storedBytes = Buffer.byteLength(body) + (secretBytes * 4) / 3;
  return Math.max(storedBytes, exportedBytes(record)) > MAX_DOCUMENT_BYTES ? TOO_LARGE : undefined;
}

function exportedBytes({ section, body, credentials }: OrganisationRecord): number {
  const json = parseObject(body);
  for (const { path, field } of section.credentials ?? [])
    if (credentials[field] !== undefined) putAt(json, path, credentials[field]);
  if (mayHaveOtpEmail(section)) json.otpEmail = true;
  return Buffer.byteLength(JSON.stringify(json));
}
