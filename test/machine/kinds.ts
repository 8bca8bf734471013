import {
  type JsonObject,
  textAt as textOfJson,
  textsAt as textsOfJson,
  valueAt,
} from '../../shared/json/jsonObject.ts';
import { organisationSection, recordSection } from '../../shared/organisation/allSections.ts';
import { formatIssue, type RecordIssue, type UniqueName } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import type { Model } from './model.ts';

/** A record of an organisation, with its credentials separate from its JSON. */
export interface ModelRecord {
  readonly section: string;
  readonly orgId: string;
  readonly json: JsonObject;
  /** The credentials by the fields that store them. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The fields of the credentials that the person or provider does not have, as the file states. */
  readonly lacks?: readonly string[];
  /** Whether the person has the OTP e-mail factor; undefined in a file that does not state it. */
  readonly factor: boolean | undefined;
  /** The number of changes of the record, including its creation (specification 2.2). */
  readonly sequence: number;
  /** The state that a new record gets if its file has none. */
  readonly impliedState?: string | undefined;
  /** The person that contains the record in the file. */
  readonly parent?: ModelRecord;
}

/** The reason not to write a record: an issue, or that it is not carried. */
export type Rejection = RecordIssue | 'notCarried';

/** Returns the phase of a section's records; organisations precede all phases of records. */
export function phaseOf({ section }: Pick<ModelRecord, 'section'>): number {
  return section === organisationSection.name ? 0 : recordSection(section).phase;
}

/** Whether an organisation has one record of the section instead of a list. */
export function isSingle(section: string): boolean {
  return recordSection(section).collection === 'settings';
}

/** Returns a record's place in the model. */
export function placeOf(record: Pick<ModelRecord, 'section' | 'orgId' | 'json'>): string {
  const { collection, key } = recordSection(record.section);
  return [collection, ...key.map((path) => textAt(record, path))].join(' ');
}

/** Returns the id by which a report names a record. */
export function reportedId(record: ModelRecord): string {
  const { error } = recordSection(record.section);
  return error.id.map((path) => textAt(record, path)).join('_');
}

/** Returns the text at a path of a record's JSON; empty if there is none. */
export function textAt({ json, orgId }: Pick<ModelRecord, 'json' | 'orgId'>, path: string): string {
  return textOfJson(json, path, orgId);
}

/** Returns the texts at a path of a record's JSON, which may lead through lists. */
export function textsAt({ json, orgId }: Pick<ModelRecord, 'json' | 'orgId'>, path: string): readonly string[] {
  return textsOfJson(json, path, orgId);
}

/** Formats an issue as `errors` of a response does. */
export const messageOf = formatIssue;

/** Returns the unique name that a record holds; undefined if it holds none. */
export function nameOf(record: ModelRecord, model: Model): string | undefined {
  const [unique] = recordSection(record.section).unique ?? [];
  if (unique === undefined || unique.onlyIfLoginNamesChange !== undefined) return undefined;
  if (unique.onlyIf !== undefined && valueAt(record.json, unique.onlyIf) !== true) return undefined;
  const isPerOrganisation = unique.perOrganisationByDomainPolicy === true && model.loginNamesByDomain(record.orgId);
  const parts = unique.parts.map((path) => commonForm(unique, textAt(record, path)));
  return [unique.type, isPerOrganisation ? record.orgId : '', ...parts].join(' ');
}

/** Returns the name of a verified domain. */
export function domainName(domain: string): string {
  return ['domain', '', withoutLookAlikes(domain)].join(' ');
}

/** Returns the issue of a record whose name another record holds. */
export function takenIssue({ section }: Pick<ModelRecord, 'section'>): RecordIssue | undefined {
  const taken = recordSection(section).unique?.[0]?.taken;
  return taken === 'adjusted' ? undefined : taken;
}

function commonForm({ lookAlikes }: UniqueName, name: string): string {
  return lookAlikes === true ? withoutLookAlikes(name) : name.toLowerCase();
}

/** The common form of names that look alike, for the characters that the machine uses. */
function withoutLookAlikes(name: string): string {
  return name.replaceAll('\u200b', '').normalize('NFKC').toLowerCase();
}

/** Whether a record belongs to a user and cannot exist without it. */
export function belongsTo(record: ModelRecord, userId: string): boolean {
  return requiredKeys(record).some(([collection, id]) => collection === 'users' && id === userId);
}

/** Lists the keys of the records without which a record cannot exist. */
export function requiredKeys(record: ModelRecord): readonly (readonly string[])[] {
  const { references = [] } = recordSection(record.section);
  return references
    .filter(({ keptIfMissing }) => keptIfMissing === undefined)
    .flatMap((reference) => targetsOf(record, reference).map((key) => [reference.collection, ...key]));
}

/** Lists the keys to which a reference of a record leads: one for each element of the list in its path. */
export function targetsOf(
  record: ModelRecord,
  { key, optional }: NonNullable<Section['references']>[number],
): readonly string[][] {
  let targets: string[][] = [[]];
  for (const path of key) targets = targets.flatMap((parts) => textsAt(record, path).map((text) => [...parts, text]));
  return optional === true ? targets.filter((parts) => parts.at(-1) !== '') : targets;
}
