import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { type PasswordComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';
import { type OrganisationRecord, readMessage, toRecord } from '../../../shared/organisation/record.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';

/** What a v1 document holds beside a record that v2 has inside it, by section (zitadel 5.9). */
export type V1Additions = ReadonlyMap<Section, Readonly<Record<string, readonly unknown[]>>>;

/** What is known of an organisation of the export file before any of its records is written. */
export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record; undefined where the file names only its id. */
  readonly record: OrganisationRecord | undefined;
  readonly additions: V1Additions;
  /** Whether login names carry the organisation's domain; undefined where the file has no domain policy. */
  readonly loginNamesByDomain: boolean | undefined;
  /** What clear passwords must have; undefined where the file has no policy for it. */
  readonly passwordComplexity: PasswordComplexity | undefined;
  /** Counts of what belongs to no record of the file, and so is not carried, by field. */
  readonly orphaned: Readonly<Record<string, number>>;
}

const v1ListOwners: ReadonlyMap<string, Section> = new Map(
  sections.flatMap((section) => Object.keys(section.v1Lists ?? {}).map((name) => [name, section])),
);

/** A record with the additions of a v1 document where v2 has them; a list among them replaces the record's own. */
export function withAdditions(section: Section, value: unknown, additions: V1Additions): unknown {
  const lists = additions.get(section);
  return lists !== undefined && isJsonObject(value) ? { ...value, ...lists } : value;
}

/** An organisation's plain fields as they are met in the file. */
export class OrganisationDraft {
  readonly additions = new Map<Section, Record<string, readonly unknown[]>>();
  /** Whether a record came before the organisation's id. */
  late = false;
  private readonly fields: JsonObject = {};
  /** Sections that take additions and of which the file holds a record. */
  private readonly completed = new Set<Section>();
  private loginNamesByDomain: boolean | undefined;
  private passwordComplexity: PasswordComplexity | undefined;

  /** Undefined as long as the id has not been met. */
  get orgId(): string | undefined {
    return typeof this.fields.orgId === 'string' ? this.fields.orgId : undefined;
  }

  /** Takes a field that is no section, or an element of a list that only a v1 document has. */
  take(name: string, value: unknown): void {
    const owner = v1ListOwners.get(name);
    if (owner === undefined) Object.assign(this.fields, readMessage(DataOrgSchema, { [name]: value }, {}));
    else this.add(owner, name, owner.v1Lists?.[name]?.(value));
  }

  /** Takes note of a record that decides about other records of the organisation, or that takes additions. */
  note({ section, json }: OrganisationRecord): void {
    if (section.v1Lists !== undefined) this.completed.add(section);
    if (section.governs === 'loginNames') this.loginNamesByDomain = json.userLoginMustBeDomain === true;
    if (section.governs === 'passwords') this.passwordComplexity = parseComplexity(json);
  }

  header(): OrganisationHeader {
    const { org, orgState } = this.fields;
    const orgId = this.orgId ?? '';
    const json: JsonObject = { orgId, org, ...(orgState === undefined ? {} : { orgState }) };
    return {
      orgId,
      record: isJsonObject(org) ? toRecord(organisationSection, json, orgId, false) : undefined,
      additions: this.additions,
      loginNamesByDomain: this.loginNamesByDomain,
      passwordComplexity: this.passwordComplexity,
      orphaned: this.orphaned(),
    };
  }

  private add(section: Section, name: string, element: unknown): void {
    const lists = this.additions.get(section) ?? {};
    this.additions.set(section, { ...lists, [name]: [...(lists[name] ?? []), element] });
  }

  private orphaned(): Record<string, number> {
    const { org, orgState } = this.fields;
    const lists = [...this.additions].flatMap(([section, named]) =>
      this.completed.has(section) ? [] : Object.entries(named),
    );
    const lengths = lists.map(([name, list]): [string, number] => [name, list.length]);
    return { ...Object.fromEntries(lengths), ...(isJsonObject(org) || orgState === undefined ? {} : { orgState: 1 }) };
  }
}
