// An organisation of an export file while the file is validated.

import { isDeepStrictEqual } from 'node:util';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { formatPath, type JsonPath } from '../json/jsonError.ts';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { readMessage } from '../organisation/message.ts';
import { checkComplexityPolicy, type PasswordComplexity, parseComplexity } from '../organisation/passwords.ts';
import {
  checkState,
  IMPORTED_FROM,
  type OrganisationRecord,
  organisationFields,
  toRecord,
} from '../organisation/record.ts';
import { recordKey } from '../organisation/recordPlan.ts';
import type { Section } from '../organisation/section.ts';
import { domainPolicySection, passwordPolicySection } from '../organisation/sections/policies.ts';
import { humanUserSection } from '../organisation/sections/users.ts';
import { claimsLoginNames, organisationSection, sections } from '../organisation/sections.ts';
import { documentPath } from '../store/store.ts';

/** Lists that v1 files hold beside a record and v2 files hold inside it, by section (zitadel 5.9). */
export type V1Additions = ReadonlyMap<Section, Readonly<Record<string, readonly unknown[]>>>;

/** Numbers of records whose states are unknown. */
export interface UnknownStates {
  readonly organisations: number;
  readonly people: number;
  readonly serviceUsers: number;
}

/** The facts about an organisation that must be known before its records are written. */
export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record; undefined if the file holds only its id. */
  readonly record: OrganisationRecord | undefined;
  readonly additions: V1Additions;
  /** The id of the instance from whose export an import has created the organisation; undefined if the file lacks it. */
  readonly importedFrom: string | undefined;
  /** Whether the file has records with login names. */
  readonly hasLoginNames: boolean;
  /** The policy for clear-text passwords; undefined if the file has none. */
  readonly passwordComplexity: PasswordComplexity | undefined;
  /** Whether the file's domain policy requires validated domains; undefined if the file has no policy. */
  readonly validatesDomains: boolean | undefined;
  /** The path of the file's last record with each mark of its section. */
  readonly lastMarked: ReadonlyMap<string, string>;
  /** The organisation and its users, if the file has no state of any of them, as files of ZITADEL 2 and 3. */
  readonly unknownStates: UnknownStates | undefined;
  /** Numbers of orphaned values, which belong to no record of the file and are not imported, by field. */
  readonly orphaned: Readonly<Record<string, number>>;
}

const v1ListOwners: ReadonlyMap<string, Section> = new Map(
  sections.flatMap((section) => Object.keys(section.v1?.lists ?? {}).map((name) => [name, section])),
);

/** Merges a v1 file's additions into a record; a merged list replaces the record's own. */
export function withAdditions(section: Section, value: unknown, additions: V1Additions): unknown {
  const lists = additions.get(section);
  return lists !== undefined && isJsonObject(value) ? { ...value, ...lists } : value;
}

/** A value that contradicts an earlier one about the same organisation. */
interface Contradiction {
  readonly path: JsonPath;
  /** The path of the earlier value. */
  readonly other: string;
}

/** An organisation's fields and policies, collected while the file is read. */
export class OrganisationDraft {
  /** The fields that are set, each with the position of its entry in the file. */
  private readonly entries = new Map<string, number>();
  private readonly entry: number;
  readonly additions = new Map<Section, Record<string, unknown[]>>();
  /** Whether a record precedes the organisation's id in the file. */
  hasEarlyRecords = false;
  /** Whether the entry has a record besides the organisation's own. */
  hasRecords = false;
  private readonly fields: JsonObject = {};
  private importedFrom: string | undefined;
  /** Sections with additions whose record the file holds. */
  private readonly completed = new Set<Section>();
  private hasLoginNames = false;
  private passwordComplexity: PasswordComplexity | undefined;
  private validatesDomains: boolean | undefined;
  private readonly lastMarked = new Map<string, string>();
  private readonly users = { people: 0, serviceUsers: 0 };
  /** Whether the file has the state of a user. */
  private hasUserState = false;

  /** @param entry the organisation's position in the file */
  constructor(entry: number) {
    this.entry = entry;
  }

  /** The organisation's id; undefined until the file has named it. */
  get orgId(): string | undefined {
    return typeof this.fields.orgId === 'string' ? this.fields.orgId : undefined;
  }

  /**
   * Adds a field that is not a section, or an element of a list that only v1 files have.
   * @returns the paths of unknown fields in it
   * @throws InvalidRecordError
   */
  addField(name: string, value: unknown): readonly string[] {
    const owner = v1ListOwners.get(name);
    if (owner !== undefined) {
      this.entries.set(name, this.entry);
      this.listAt(owner, name).push(owner.v1?.lists?.[name]?.(value));
      const schema = organisationFields.get(name)?.schema;
      if (schema === undefined) return [];
      // Reading a message may change its JSON.
      return readMessage(schema, structuredClone(value), {}).unknown.fields.map((path) => `${name}.${path}`);
    }
    // An export of organisations without records has it, and no import uses it.
    if (name === IMPORTED_FROM) {
      this.importedFrom = typeof value === 'string' ? value : undefined;
      return [];
    }
    const { json, unknown } = readMessage(DataOrgSchema, { [name]: value }, {});
    this.set(name, json[name], this.entry);
    checkState(unknown, 'orgState', '');
    return unknown.fields;
  }

  /** Remembers policies that govern other records, and records that take additions. */
  observe(record: OrganisationRecord): void {
    const { section, json } = record;
    this.hasRecords = true;
    for (const mark of section.adjusted?.marks(json) ?? []) this.lastMarked.set(mark, documentPath(recordKey(record)));
    if (section.v1?.lists !== undefined) this.completed.add(section);
    this.hasLoginNames ||= claimsLoginNames(section);
    if (section.collection === 'users') this.observeUser(record);
    // Of several policies, the first is imported. One that fails its check is not, so it does not apply either.
    if (section === domainPolicySection) this.validatesDomains ??= json.validateOrgDomains === true;
    if (section === passwordPolicySection && checkComplexityPolicy(json) === undefined)
      this.passwordComplexity ??= parseComplexity(json);
  }

  /**
   * Adds the content of another entry for the same organisation.
   * @returns the values that contradict this draft's
   */
  merge(later: OrganisationDraft): Contradiction[] {
    const contradictions: Contradiction[] = [];
    for (const [name, entry] of later.entries) {
      const first = this.entries.get(name);
      if (first === undefined) this.set(name, later.get(name), entry);
      else if (!isDeepStrictEqual(this.get(name), later.get(name)))
        contradictions.push({ path: ['orgs', entry, name], other: formatPath(['orgs', first, name]) });
    }
    for (const section of later.completed) this.completed.add(section);
    this.hasLoginNames ||= later.hasLoginNames;
    this.hasUserState ||= later.hasUserState;
    this.users.people += later.users.people;
    this.users.serviceUsers += later.users.serviceUsers;
    this.passwordComplexity ??= later.passwordComplexity;
    this.validatesDomains ??= later.validatesDomains;
    for (const [mark, path] of later.lastMarked) this.lastMarked.set(mark, path);
    return contradictions;
  }

  toHeader(): OrganisationHeader {
    const { org, orgState } = this.fields;
    const orgId = this.orgId ?? '';
    const json: JsonObject = { orgId, org, ...(orgState === undefined ? {} : { orgState }) };
    return {
      orgId,
      record: isJsonObject(org) ? toRecord(organisationSection, json, orgId) : undefined,
      importedFrom: this.importedFrom,
      additions: this.additions,
      hasLoginNames: this.hasLoginNames,
      passwordComplexity: this.passwordComplexity,
      validatesDomains: this.validatesDomains,
      lastMarked: this.lastMarked,
      unknownStates: this.unknownStates(),
      orphaned: this.countOrphaned(),
    };
  }

  private observeUser({ section, state }: OrganisationRecord): void {
    this.hasUserState ||= state?.source === 'given';
    this.users[section === humanUserSection ? 'people' : 'serviceUsers']++;
  }

  private unknownStates(): UnknownStates | undefined {
    const { org, orgState } = this.fields;
    const { people, serviceUsers } = this.users;
    const organisations = isJsonObject(org) ? 1 : 0;
    if (this.hasUserState || orgState !== undefined || organisations + people + serviceUsers === 0) return undefined;
    return { organisations, people, serviceUsers };
  }

  private get(name: string): unknown {
    const owner = v1ListOwners.get(name);
    return owner === undefined ? this.fields[name] : this.listAt(owner, name);
  }

  private set(name: string, value: unknown, entry: number): void {
    if (value === undefined) return;
    this.entries.set(name, entry);
    const owner = v1ListOwners.get(name);
    if (owner === undefined) this.fields[name] = value;
    else if (Array.isArray(value)) this.additions.set(owner, { ...this.additions.get(owner), [name]: value });
  }

  private listAt(section: Section, name: string): unknown[] {
    const lists = this.additions.get(section) ?? {};
    this.additions.set(section, lists);
    lists[name] ??= [];
    return lists[name];
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
