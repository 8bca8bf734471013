import { isJsonObject, type JsonObject } from '../../shared/json/jsonObject.ts';
import { DocumentFault, readRecord, recordOf } from '../../shared/organisation/record.ts';
import { ownerOf, planRecord, type RecordPlan } from '../../shared/organisation/recordPlan.ts';
import { organisationSection, sections } from '../../shared/organisation/sections.ts';
import { documentId, type StoredDocument } from '../../shared/store/store.ts';

const sectionsByName = new Map([organisationSection, ...sections].map((section) => [section.name, section]));

/** Documents by `<collection>/<id>`, as a claim names its owner. */
export type Documents = ReadonlyMap<string, StoredDocument>;

/** Where a stored record would be written with which claims if it came in an import now, or why there is no telling. */
export function planOf(document: StoredDocument, documents: Documents): RecordPlan | string {
  const { partition = '', orgId = '' } = document;
  const section = sectionsByName.get(partition.slice(0, partition.indexOf('/')));
  if (section === undefined) return `is in no section: ${partition}`;
  const json = parsed(document.body);
  if (json === undefined) return 'has no JSON object for its body';
  try {
    const isOrganisation = section === organisationSection;
    const record = isOrganisation ? recordOf(section, json, orgId, false) : readRecord(section, json, orgId);
    return planRecord(record, loginNamesByDomain(orgId, documents));
  } catch (error) {
    if (error instanceof DocumentFault) return `is no record of ${section.name}: ${error.message}`;
    throw error;
  }
}

/** A stored body; undefined where it is no JSON object. */
export function parsed(body = ''): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(body);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function loginNamesByDomain(orgId: string, documents: Documents): boolean {
  const policy = documents.get(ownerOf({ collection: 'settings', id: documentId(orgId, 'domainPolicy') }));
  return parsed(policy?.body)?.userLoginMustBeDomain === true;
}
