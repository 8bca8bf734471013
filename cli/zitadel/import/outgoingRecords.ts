import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import type { OrganisationHeader } from '../../../functions/import/inspect/organisationDraft.ts';
import { type ExportFileItem, ExportFileReader } from '../../../functions/import/source/exportFileReader.ts';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { type OrganisationRecord, recordSchema } from '../../../shared/organisation/record.ts';
import { isList } from '../../../shared/organisation/section.ts';
import { hasNoText } from '../../../shared/organisation/sections/texts.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import { type ImportPlan, placeInFile, readItem } from './importPlan.ts';
import { encodeRecord, type OutgoingRecord } from './importRequest.ts';
import type { ImportStep } from './importSteps.ts';

/** Reads the records of one step from the file, in its order. The same file and step yield the same ordinals. */
export async function* readStep(
  plan: ImportPlan,
  step: ImportStep,
  signal: AbortSignal,
): AsyncGenerator<OutgoingRecord, void, void> {
  const wanted = new Set([...step.sections, ...(step.createsOrganisations === true ? ['orgId', 'org'] : [])]);
  const reader = new ExportFileReader((name) => wanted.has(name));
  const created = new Set<string>();
  let ordinal = 0;
  for await (const chunk of plan.source.open(signal)) {
    await yieldToEventLoop();
    signal.throwIfAborted();
    for (const item of reader.push(chunk)) {
      const header = item.organisation === undefined ? undefined : plan.header(item.organisation);
      if (header === undefined) continue;
      if (step.createsOrganisations === true && !created.has(header.orgId)) {
        created.add(header.orgId);
        ordinal++;
        const { record } = header;
        if (record !== undefined && !plan.exists(record)) yield outgoingOrganisation(header, record, ordinal);
      }
      ordinal++;
      if (!plan.withheld.has(placeInFile(item))) yield* outgoingItem(plan, item, ordinal);
    }
  }
}

function outgoingOrganisation({ orgId }: OrganisationHeader, record: OrganisationRecord, ordinal: number) {
  const fields = encodeRecord(DataOrgSchema, { org: record.json.org, orgState: record.state });
  return { orgId, label: `org ${orgId}`, sections: [record.section.name], list: undefined, ...fields, ordinal };
}

function outgoingItem(plan: ImportPlan, item: ExportFileItem, ordinal: number): OutgoingRecord[] {
  const outgoing: OutgoingRecord[] = [];
  readItem(item, plan.header, (record) => {
    const { section, orgId } = record;
    if ((section.collection === 'texts' && hasNoText(record.json)) || plan.exists(record)) return;
    const { json, bytes } = encodeRecord(recordSchema(section), sentForm(plan, record));
    const label = [section.error.type, ...section.error.id.map((path) => textAt(json, path, orgId))].join(' ');
    const placed = isList(section) ? { list: section.name, json } : { list: undefined, json: { [section.name]: json } };
    outgoing.push({ orgId, label, sections: [section.name, ...heldSections(record)], ...placed, bytes, ordinal });
  });
  return outgoing;
}

/** Returns a record with its credentials, in the form that a ZITADEL imports without loss (zitadel 4.6). */
function sentForm({ providers }: ImportPlan, record: OrganisationRecord): JsonObject {
  const { section, json, credentials, clearPassword, orgId } = record;
  for (const { path, field, clear } of section.credentials ?? []) {
    if (credentials[field] !== undefined) putAt(json, path, credentials[field]);
    if (clear !== undefined && clearPassword !== undefined) putAt(json, clear, clearPassword);
  }
  const { exported: { innerId, keepProviders } = {}, holds } = section;
  if (innerId !== undefined) putAt(json, `${innerId.inner}.${innerId.from}`, json[innerId.from]);
  const isSent = (id: unknown) => typeof id === 'string' && providers.get(id) === orgId;
  keepProviders?.(json, isSent);
  // ZITADEL refuses the whole person for a link to a provider that it does not have.
  if (holds !== undefined) keepElements(json, holds.list, ({ configId }) => isSent(configId));
  return json;
}

function keepElements(json: JsonObject, path: string, isKept: (element: JsonObject) => boolean): void {
  const elements = valueAt(json, path);
  if (Array.isArray(elements)) putAt(json, path, elements.filter(isJsonObject).filter(isKept));
}

/** Returns the section of each record inside one that is sent. */
function heldSections({ section: { holds }, json }: OrganisationRecord): string[] {
  const held = holds === undefined ? [] : valueAt(json, holds.list);
  return holds !== undefined && Array.isArray(held) ? held.map(() => holds.section.name) : [];
}
