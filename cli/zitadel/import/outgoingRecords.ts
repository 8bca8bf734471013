import { type DescMessage, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { isJsonObject, type JsonObject, parseObject, putAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection } from '../../../shared/organisation/allSections.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { recordSchema } from '../../../shared/organisation/recordSchema.ts';
import { isList, type SectionName } from '../../../shared/organisation/sections/section.ts';
import type { ImportFacts } from '../../records/importFacts.ts';
import type { LedgerRecord } from './ledger.ts';

export interface OutgoingRecord extends Omit<LedgerRecord, 'record'> {
  readonly orgId: string;
  readonly section: SectionName;
  /** The type that the record has in ZITADEL's errors. */
  readonly type: string;
  /**
   * The name of the list that contains the record in the request. This list is a field of the organisation. Undefined
   * if the record has no list, because the fields of `json` are fields of the organisation.
   */
  readonly list: string | undefined;
  readonly json: JsonObject;
  /** The largest size that the record can have in the protobuf message, in bytes. */
  readonly bytes: number;
}

/**
 * The maximum numbers of records and bytes in a request. ZITADEL's limit is 4 MiB. For 5,000 people, ZITADEL needs 20 s
 * to 45 s, and gateways end calls after 60 s.
 */
export const requestLimits = { records: 5_000, bytes: 4_000_000 };

/** The maximum number of bytes that protobuf adds to a nested message, for its tag and length. */
const MESSAGE_FRAME_BYTES = 8;
/** The maximum number of bytes of a request without records. */
const ENVELOPE_BYTES = 64;

interface RequestScope {
  readonly records: number;
  readonly imports: ImportFacts;
  /** Whether the request may contain only records of a single organisation. */
  readonly isApart: boolean;
}

export function takeRequest(ledger: Iterable<LedgerRecord>, scope: RequestScope): readonly OutgoingRecord[] {
  const request: OutgoingRecord[] = [];
  const orgIds = new Set<string>();
  let bytes = ENVELOPE_BYTES;
  for (const entry of ledger) {
    const record = outgoing(entry, scope.imports);
    const isNew = !orgIds.has(record.orgId);
    bytes += record.bytes + (isNew ? Buffer.byteLength(record.orgId) + 2 * MESSAGE_FRAME_BYTES : 0);
    if (request.length > 0 && (bytes > requestLimits.bytes || (scope.isApart && isNew))) break;
    orgIds.add(record.orgId);
    request.push(record);
    if (request.length >= scope.records) break;
  }
  return request;
}

function outgoing({ record, ...ledgerFields }: LedgerRecord, imports: ImportFacts): OutgoingRecord {
  const { section, orgId } = record;
  const facts = { ...ledgerFields, orgId, section: section.name, type: section.error.type };
  if (section === organisationSection) {
    const fields = { org: record.json.org, orgState: record.state?.value };
    return { ...facts, list: undefined, ...encodeRecord(DataOrgSchema, fields) };
  }
  const { json, bytes } = encodeRecord(recordSchema(section), sentForm(record, imports));
  return isList(section)
    ? { ...facts, list: section.name, json, bytes }
    : { ...facts, list: undefined, json: { [section.name]: json }, bytes };
}

/**
 * Returns the JSON of a record with its credentials, in the form that ZITADEL imports without loss; see zitadel 4.6.
 */
function sentForm(record: OrganisationRecord, imports: ImportFacts) {
  const { section, json, credentials, clearPassword, orgId } = record;
  convertValues(record);
  const omitsHash = imports.omitsHash(record);
  for (const { path, field, clear } of section.credentials ?? []) {
    const isOmitted = field === 'passwordHash' && omitsHash;
    if (credentials[field] !== undefined && !isOmitted) putAt(json, path, credentials[field]);
    if (clear !== undefined && clearPassword !== undefined) putAt(json, clear, clearPassword);
  }
  const { exported: { keepProviders } = {}, nested } = section;
  const hasProvider = (id: unknown) => typeof id === 'string' && imports.hasProvider(orgId, id);
  keepProviders?.(json, hasProvider);
  // A link to an identity provider that ZITADEL will not have is removed, because ZITADEL would reject the whole
  // person.
  if (nested !== undefined) keepElements(json, nested.list, ({ configId }) => hasProvider(configId));
  // `fromJson` rejects fields with the value undefined, and an omitted hash leaves such a field. Writing the JSON and
  // reading it removes these fields.
  return omitsHash ? parseObject(JSON.stringify(json)) : json;
}

/**
 * Converts values of a record as this service converts them in its own imports; see zitadel 2.5. The conversion is
 * necessary because ZITADEL rejects some of the original values. Does not convert fields of the record's id, because
 * ZITADEL's response must identify the record by the original id.
 */
function convertValues(record: OrganisationRecord): void {
  const { section, json } = record;
  const { json: stored } = normaliseRecord(record).record;
  if (stored === json) return;
  const ids = [...section.key, ...section.error.id];
  for (const field of Object.keys(section.values ?? {}).map((path) => path.replace('[]', ''))) {
    const value = valueAt(stored, field);
    if (!ids.includes(field) && value !== valueAt(json, field)) putAt(json, field, value ?? null);
  }
}

function keepElements(json: JsonObject, path: string, isKept: (element: JsonObject) => boolean): void {
  const elements = valueAt(json, path);
  if (Array.isArray(elements)) putAt(json, path, elements.filter(isJsonObject).filter(isKept));
}

/** Removes the fields that the definition of the message does not have. */
function encodeRecord(schema: DescMessage, json: JsonObject): { json: JsonObject; bytes: number } {
  // `JSON.parse` or `toJson` has created the object, so all its values are JSON.
  const message = fromJson(schema, json as JsonValue, { ignoreUnknownFields: true });
  const encoded = toJson(schema, message);
  if (!isJsonObject(encoded)) throw new Error(`${schema.typeName} has no form of an object`);
  return { json: encoded, bytes: toBinary(schema, message).byteLength + MESSAGE_FRAME_BYTES };
}

export function importBody(records: readonly OutgoingRecord[], timeout: string): string {
  const orgs = new Map<string, JsonObject>();
  for (const { orgId, list, json } of records) {
    const organisation = orgs.get(orgId) ?? { orgId };
    orgs.set(orgId, organisation);
    const elements = list === undefined ? undefined : organisation[list];
    if (list === undefined) Object.assign(organisation, json);
    else if (Array.isArray(elements)) elements.push(json);
    else organisation[list] = [json];
  }
  return JSON.stringify({ timeout, dataOrgs: { orgs: [...orgs.values()] } });
}
