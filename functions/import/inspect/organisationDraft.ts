import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import { type OrganisationRecord, readMessage, toRecord } from '../../../shared/organisation/record.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';

/** Lists that v1 files hold beside a record and v2 files hold inside it, by section (zitadel 5.9). */
export type V1Additions = ReadonlyMap<Section, Readonly<Record<string, readonly unknown[]>>>;

/** The facts about an organisation that must be known before its records are written. */
export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record; undefined if the file holds only its id. */
  readonly record: OrganisationRecord | undefined;
  readonly additions: V1Additions;
  /** Whether login names carry the organisation's domain; undefined if the file has no domain policy. */
  readonly loginNamesByDomain: boolean | undefined;
  /** The policy for clear-text passwords; undefined if the file has none. */
  readonly passwordComplexity: PasswordComplexity | undefined;
  /** Numbers of orphaned values, which belong to no record of the file and are not imported, by field. */
  readonly orphaned: Readonly<Record<string, number>>;
}

const v1ListOwners: ReadonlyMap<string, Section> = new Map(
  sections.flatMap((section) => Object.keys(section.v1Lists ?? {}).map((name) => [name, section])),
);

/** Merges a v1 file's additions into a record; a merged list replaces the record's own. */
export function withAdditions(section: Section, value: unknown, additions: V1Additions): unknown {
  const lists = additions.get(section);
  return lists !== undefined && isJsonObject(value) ? { ...value, ...lists } : value;
}

/** An organisation's fields and policies, collected while the file is read. */
export class OrganisationDraft {
  readonly additions = new Map<Section, Record<string, readonly unknown[]>>();
  /** Whether a record precedes the organisation's id in the file. */
  hasEarlyRecords = false;
  private readonly fields: JsonObject = {};
  /** Sections with additions whose record the file holds. */
  private readonly completed = new Set<Section>();
  private loginNamesByDomain: boolean | undefined;
  private passwordComplexity: PasswordComplexity | undefined;

  /** The organisation's id; undefined until the file has named it. */
  get orgId(): string | undefined {
    return typeof this.fields.orgId === 'string' ? this.fields.orgId : undefined;
  }

  /** Adds a field that is not a section, or an element of a list that only v1 files have. */
  addField(name: string, value: unknown): void {
    const owner = v1ListOwners.get(name);
    if (owner === undefined) Object.assign(this.fields, readMessage(DataOrgSchema, { [name]: value }, {}));
    else this.addToList(owner, name, owner.v1Lists?.[name]?.(value));
  }

  /** Remembers policies that govern other records, and records that take additions. */
  observe({ section, json }: OrganisationRecord): void {
    if (section.v1Lists !== undefined) this.completed.add(section);
    if (section.governs === 'loginNames') this.loginNamesByDomain = json.userLoginMustBeDomain === true;
    if (section.governs === 'passwords') this.passwordComplexity = parseComplexity(json);
  }

  toHeader(): OrganisationHeader {
    const { org, orgState } = this.fields;
    const orgId = this.orgId ?? '';
    const json: JsonObject = { orgId, org, ...(orgState === undefined ? {} : { orgState }) };
    return {
      orgId,
      record: isJsonObject(org) ? toRecord(organisationSection, json, orgId, false) : undefined,
      additions: this.additions,
      loginNamesByDomain: this.loginNamesByDomain,
      passwordComplexity: this.passwordComplexity,
      orphaned: this.countOrphaned(),
    };
  }

  private addToList(section: Section, name: string, element: unknown): void {
    const lists = this.additions.get(section) ?? {};
    this.additions.set(section, { ...lists, [name]: [...(lists[name] ?? []), element] });
  }

  private countOrphaned(): Record<string, number> {
    const { org, orgState } = this.fields;
    const lists = [...this.additions].flatMap(([section, listsByName]) =>
      this.completed.has(section) ? [] : Object.entries(listsByName),
    );
    const lengths = lists.map(([name, list]): [string, number] => [name, list.length]);
    return { ...Object.fromEntries(lengths), ...(isJsonObject(org) || orgState === undefined ? {} : { orgState: 1 }) };
  }
}
