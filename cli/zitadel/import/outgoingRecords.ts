import { type DescMessage, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { type OrganisationRecord, recordSchema } from '../../../shared/organisation/record.ts';
import { isList } from '../../../shared/organisation/section.ts';
import { hasNoText } from '../../../shared/organisation/sections/texts.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { ImportPlan } from './importPlan.ts';
import type { ImportStep } from './importSteps.ts';

/** A record in the form in which it is sent. */
export interface OutgoingRecord {
  readonly orgId: string;
  /** The type and id by which ZITADEL reports it. */
  readonly label: string;
  /** The names of its section, and of that of each record inside it. */
  readonly sections: readonly string[];
  /** The person's id, where the ZITADEL has the person and lacks only the TOTP seed. */
  readonly seedOwner: string | undefined;
  /** The link's id, where ZITADEL may refuse it because the file lacks its identity provider. */
  readonly refusedLink: string | undefined;
  /** The list of the organisation document that holds the record; undefined where `json` holds the document's fields. */
  readonly list: string | undefined;
  readonly json: JsonObject;
  /** The size in the protobuf message, at most. */
  readonly bytes: number;
}

/** Reads the records of one step from the file, in its order. */
export async function* readStep(
  plan: ImportPlan,
  step: ImportStep,
  signal: AbortSignal,
): AsyncGenerator<OutgoingRecord, void, void> {
  const wanted = new Set([...step.sections, ...(step.createsOrganisations === true ? ['orgId', 'org'] : [])]);
  const reader = new ExportFileReader((name) => wanted.has(name));
  const created = new Set<string>();
  for await (const chunk of plan.source.open(signal)) {
    await yieldToEventLoop();
    signal.throwIfAborted();
    for (const item of reader.push(chunk)) {
      const { orgId, record: organisation } = plan.headerOf(item) ?? {};
      if (step.createsOrganisations === true && orgId !== undefined && !created.has(orgId)) {
        created.add(orgId);
        if (organisation !== undefined && !plan.exists(organisation)) yield outgoingOrganisation(organisation);
      }
      const record = plan.withholds(item) ? undefined : plan.readItem(item);
      if (record !== undefined && isSent(plan, record)) yield outgoingItem(plan, record);
    }
  }
}

function isSent(plan: ImportPlan, record: OrganisationRecord): boolean {
  if (record.section.collection === 'texts' && hasNoText(record.json)) return false;
  return !plan.exists(record) || plan.seedOwner(record) !== undefined;
}

function outgoingOrganisation({ orgId, section, json, state }: OrganisationRecord): OutgoingRecord {
  const fields = encodeRecord(DataOrgSchema, { org: json.org, orgState: state });
  const none = { seedOwner: undefined, refusedLink: undefined, list: undefined };
  return { orgId, label: `org ${orgId}`, sections: [section.name], ...none, ...fields };
}

function outgoingItem(plan: ImportPlan, record: OrganisationRecord): OutgoingRecord {
  const { section, orgId } = record;
  const { json, bytes } = encodeRecord(recordSchema(section), sentForm(plan, record));
  const label = [section.error.type, ...section.error.id.map((path) => textAt(json, path, orgId))].join(' ');
  const placed = isList(section) ? { list: section.name, json } : { list: undefined, json: { [section.name]: json } };
  const sections = [section.name, ...nestedSections(record)];
  const [seedOwner, refusedLink] = [plan.seedOwner(record), plan.refusedLink(record)];
  return { orgId, label, sections, seedOwner, refusedLink, ...placed, bytes };
}

/** Returns a record with its credentials, in the form that a ZITADEL imports without loss (zitadel 4.6). */
function sentForm({ survey: { losses } }: ImportPlan, record: OrganisationRecord): JsonObject {
  const { section, json, credentials, clearPassword, orgId } = record;
  for (const { path, field, clear } of section.credentials ?? []) {
    if (credentials[field] !== undefined) putAt(json, path, credentials[field]);
    if (clear !== undefined && clearPassword !== undefined) putAt(json, clear, clearPassword);
  }
  const { exported: { innerId, keepProviders } = {}, nested } = section;
  if (innerId !== undefined) putAt(json, `${innerId.inner}.${innerId.from}`, json[innerId.from]);
  const hasProvider = (id: unknown) => typeof id === 'string' && losses.hasProvider(orgId, id);
  keepProviders?.(json, hasProvider);
  // ZITADEL refuses the whole person for a link to a provider that it does not have.
  if (nested !== undefined) keepElements(json, nested.list, ({ configId }) => hasProvider(configId));
  return json;
}

function keepElements(json: JsonObject, path: string, isKept: (element: JsonObject) => boolean): void {
  const elements = valueAt(json, path);
  if (Array.isArray(elements)) putAt(json, path, elements.filter(isJsonObject).filter(isKept));
}

/** Returns the section of each record inside one that is sent. */
function nestedSections({ section: { nested }, json }: OrganisationRecord): string[] {
  const held = nested === undefined ? [] : valueAt(json, nested.list);
  return nested !== undefined && Array.isArray(held) ? held.map(() => nested.section.name) : [];
}

/** The size of one request. */
interface RequestLimits {
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
function encodeRecord(schema: DescMessage, json: JsonObject): { json: JsonObject; bytes: number } {
  // The value of JSON.parse or of toJson is always JSON.
  const message = fromJson(schema, json as JsonValue, { ignoreUnknownFields: true });
  const encoded = toJson(schema, message);
  if (!isJsonObject(encoded)) throw new Error(`${schema.typeName} has no form of an object`);
  return { json: encoded, bytes: toBinary(schema, message).byteLength + FRAME_BYTES };
}

/**
 * Groups records into requests, in their order.
 * @param limits read before each record, because slow answers lower them
 * @param areApart whether each organisation needs requests of its own
 */
export async function* groupRecords(
  records: AsyncIterable<OutgoingRecord>,
  limits: () => RequestLimits,
  areApart: boolean,
): AsyncGenerator<readonly OutgoingRecord[], void, void> {
  let group: OutgoingRecord[] = [];
  let bytes = ENVELOPE_BYTES;
  const orgIds = new Set<string>();
  const size = ({ orgId, bytes: own }: OutgoingRecord) =>
    own + (orgIds.has(orgId) ? 0 : Buffer.byteLength(orgId) + 2 * FRAME_BYTES);
  for await (const record of records) {
    const most = limits();
    const isFull = group.length >= most.records || bytes + size(record) > most.bytes;
    if (group.length > 0 && (isFull || (areApart && !orgIds.has(record.orgId)))) {
      yield group;
      [group, bytes] = [[], ENVELOPE_BYTES];
      orgIds.clear();
    }
    bytes += size(record);
    orgIds.add(record.orgId);
    group.push(record);
  }
  if (group.length > 0) yield group;
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
