import { type DescMessage, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';

/** A record in the form in which it is sent. */
export interface OutgoingRecord {
  readonly orgId: string;
  /** The type and id by which ZITADEL reports it. */
  readonly label: string;
  /** The names of its section, and of that of each record inside it. */
  readonly sections: readonly string[];
  /** The list of the organisation document that holds the record; undefined where `json` holds the document's fields. */
  readonly list: string | undefined;
  readonly json: JsonObject;
  /** The size in the protobuf message, at most. */
  readonly bytes: number;
  /** The position of its item among those of its step, counted from 1. */
  readonly ordinal: number;
}

/** The size of one request. */
export interface RequestLimits {
  readonly records: number;
  /** Of the protobuf message, in bytes. */
  readonly bytes: number;
}

/** ZITADEL's limit is 4 MiB of protobuf; 5,000 people take it 20 s to 45 s, and its gateways cut off after 60 s. */
export const requestLimits: RequestLimits = { records: 5_000, bytes: 4_000_000 };

/** The tag and the length of an embedded message. */
const FRAME_BYTES = 8;
/** The timeout and the envelope. */
const ENVELOPE_BYTES = 64;

/** Reduces a message to the fields of its definition, and measures it. */
export function encodeRecord(schema: DescMessage, json: JsonObject): { json: JsonObject; bytes: number } {
  // The value of JSON.parse or of toJson is always JSON.
  const message = fromJson(schema, json as JsonValue, { ignoreUnknownFields: true });
  const encoded = toJson(schema, message);
  if (!isJsonObject(encoded)) throw new Error(`${schema.typeName} has no form of an object`);
  return { json: encoded, bytes: toBinary(schema, message).byteLength + FRAME_BYTES };
}

/** Writes the body of an import of some records. */
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

/**
 * Groups records into requests, in their order.
 * @param limits read before each record, because slow answers lower them
 * @param areApart whether two records cannot share a request
 */
export async function* groupRecords(
  records: AsyncIterable<OutgoingRecord>,
  limits: () => RequestLimits,
  areApart: (a: OutgoingRecord, b: OutgoingRecord) => boolean,
): AsyncGenerator<readonly OutgoingRecord[], void, void> {
  let group = new RequestGroup();
  for await (const record of records) {
    if (!group.takes(record, limits(), areApart)) {
      yield group.records;
      group = new RequestGroup();
    }
    group.add(record);
  }
  if (group.records.length > 0) yield group.records;
}

/** The records of one request, and their size. */
class RequestGroup {
  readonly records: OutgoingRecord[] = [];
  private bytes = ENVELOPE_BYTES;
  private readonly orgIds = new Set<string>();

  /** Whether a record fits; the first always does. */
  takes(record: OutgoingRecord, limits: RequestLimits, areApart: (a: OutgoingRecord, b: OutgoingRecord) => boolean) {
    const [first] = this.records;
    if (first === undefined) return true;
    const isFull = this.records.length >= limits.records || this.bytes + this.sizeWith(record) > limits.bytes;
    return !isFull && !areApart(first, record);
  }

  add(record: OutgoingRecord): void {
    this.bytes += this.sizeWith(record);
    this.orgIds.add(record.orgId);
    this.records.push(record);
  }

  private sizeWith({ orgId, bytes }: OutgoingRecord): number {
    return bytes + (this.orgIds.has(orgId) ? 0 : Buffer.byteLength(orgId) + 2 * FRAME_BYTES);
  }
}
