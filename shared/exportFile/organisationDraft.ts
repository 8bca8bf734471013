import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../defined.ts';
import { formatPath, JsonError, type JsonPath } from '../json/jsonError.ts';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { claimsLoginNames, organisationSection, sections } from '../organisation/allSections.ts';
import { TOO_LARGE } from '../organisation/exportedForm.ts';
import { InvalidRecordError, readMessage } from '../organisation/message.ts';
import { checkComplexityPolicy, type PasswordComplexity, parseComplexity } from '../organisation/passwordRules.ts';
import { checkState, type OrganisationRecord, readFields, toRecord } from '../organisation/record.ts';
import { recordKey } from '../organisation/recordPlan.ts';
import { organisationFields } from '../organisation/recordSchema.ts';
import type { RecordIssue } from '../organisation/relations.ts';
import { domainPolicySection, passwordPolicySection, requiresValidation } from '../organisation/sections/policies.ts';
import { IMPORTED_FROM, type Section } from '../organisation/sections/section.ts';
import { documentPath } from '../store/store.ts';
import { invalidRecordIssue } from './fileRecord.ts';
import type { ExportFileItem } from './reader.ts';

/**
 * Maps a section to lists that belong to its record. A v1 file contains these lists next to the record, whereas a v2
 * file contains them inside the record (zitadel 2.1).
 */
export type V1Additions = ReadonlyMap<Section, Readonly<Record<string, readonly unknown[]>>>;

export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record, which may be invalid; undefined if the file does not contain this record. */
  readonly record: OrganisationRecord | undefined;
  readonly additions: V1Additions;
  /**
   * The id of the instance from which the source imported the organisation; undefined if no import created it, or if
   * the id is unknown.
   */
  readonly importedFrom: string | undefined;
  /** True if the file contains records of this organisation that have login names. */
  readonly hasLoginNames: boolean;
  /** The policy for clear-text passwords; undefined if the file has no valid policy. */
  readonly passwordComplexity: PasswordComplexity | undefined;
  /** True if the organisation's domains must be validated; undefined if the file has no valid domain policy. */
  readonly validatesDomains: boolean | undefined;
  /**
   * The issue of an invalid domain policy. If there is such an issue, the import cannot know whether login names must
   * be unique in the organisation or in the whole instance.
   */
  readonly domainPolicyIssue: RecordIssue | undefined;
  /**
   * Maps a mark to the path of the last record with this mark that the file contains for the organisation. A mark is a
   * text such as `primary` (see `AdjustedField.marks`).
   */
  readonly lastMarked: ReadonlyMap<string, string>;
  /**
   * Maps a field to the number of its values that belong to a record which the file lacks. Imports drop such values.
   */
  readonly orphaned: Readonly<Record<string, number>>;
}

const v1ListOwners: ReadonlyMap<string, Section> = new Map(
  sections.flatMap((section) => Object.keys(section.v1?.lists ?? {}).map((name) => [name, section])),
);

/**
 * Completes a record's value with the lists that a v1 file contains next to the record. These lists replace lists with
 * the same name in the value.
 */
export function withAdditions(section: Section, value: unknown, additions: V1Additions): unknown {
  const lists = additions.get(section);
  return lists !== undefined && isJsonObject(value) ? { ...value, ...lists } : value;
}

interface InvalidField {
  readonly name: string;
  /** The digest of the field's JSON text, as the file contains the text. */
  readonly digest: string;
  readonly issue: RecordIssue;
}

/** A conflict between two entries of the same organisation: a field has different values in them. */
interface Contradiction {
  readonly path: JsonPath;
  /** The path of the value that comes first in the file, formatted for an error. */
  readonly firstPath: string;
}

export class OrganisationDraft {
  /** For each field of the organisation, the position in `orgs` of the entry that contains the field. */
  private readonly entries = new Map<string, number>();
  private readonly entry: number;
  readonly additions = new Map<Section, Record<string, unknown[]>>();
  /** True if a record precedes the organisation's id in the entry. */
  hasEarlyRecords = false;
  /** True if the entry has a record other than the organisation's own record. */
  hasRecords = false;
  private readonly fields: JsonObject = {};
  private importedFrom: string | undefined;
  private invalidField: InvalidField | undefined;
  /**
   * The sections whose record is invalid because of an invalid element in a list next to the record. Only v1 files have
   * lists next to records.
   */
  readonly invalidAdditions = new Set<Section>();
  /** The sections whose record the file contains, if a v1 file may contain lists of the record next to it. */
  private readonly completed = new Set<Section>();
  private hasLoginNames = false;
  private domainPolicyIssue: RecordIssue | undefined;
  private passwordComplexity: PasswordComplexity | undefined;
  private validatesDomains: boolean | undefined;
  private readonly lastMarked = new Map<string, string>();

  constructor(entry: number) {
    this.entry = entry;
  }

  /** The organisation's id; undefined until the id has been added. */
  get orgId(): string | undefined {
    return typeof this.fields.orgId === 'string' ? this.fields.orgId : undefined;
  }

  /**
   * Adds a field of the organisation itself, such as `orgId` or `org`, or an element of a list that a v1 file contains
   * next to a record.
   * @param value the parsed text; undefined if the text is too large
   * @returns the paths of the unknown fields in the value
   * @throws JsonError if the field is `orgId` and its value is not a valid id
   */
  addField(item: ExportFileItem, value: unknown): readonly string[] {
    const owner = v1ListOwners.get(item.name);
    try {
      return owner === undefined ? this.addOwnField(item, value) : this.addElement(owner, item.name, value);
    } catch (error) {
      if (!(error instanceof InvalidRecordError)) throw error;
      if (owner !== undefined) this.invalidAdditions.add(owner);
      else if (item.name === 'orgId') throw new JsonError(item.path, error.issues[0]?.reason ?? error.message);
      else
        this.invalidField ??= {
          name: item.name,
          digest: hash('sha256', item.text, 'base64url'),
          issue: invalidRecordIssue(error, item.path.slice(0, -1)),
        };
      return [];
    }
  }

  private addOwnField({ name, isTooLarge }: ExportFileItem, value: unknown): readonly string[] {
    // Only exports with `orgs_only` contain `importedFrom`. Imports ignore this field.
    if (name === IMPORTED_FROM) {
      this.importedFrom = typeof value === 'string' ? value : undefined;
      return [];
    }
    if (isTooLarge === true) throw new InvalidRecordError([{ path: name, reason: TOO_LARGE.key }]);
    const { json, unknown } = readFields(organisationSection, { [name]: value }, organisationSection);
    checkState({ json, unknown }, 'orgState');
    this.set(name, json[name], this.entry);
    return unknown.fields;
  }

  private addElement(owner: Section, name: string, value: unknown): readonly string[] {
    this.entries.set(name, this.entry);
    this.listAt(owner, name).push(owner.v1?.lists?.[name]?.(value));
    const schema = organisationFields.get(name)?.schema;
    if (schema === undefined) return [];
    // Parse a copy, because the parser may change the JSON.
    return readMessage(schema, structuredClone(value), {}).unknown.fields.map((path) => `${name}.${path}`);
  }

  /** Keeps what a record means for other records and lists of the organisation, such as the rules of a policy. */
  observe(record: OrganisationRecord): void {
    const { section, json } = record;
    this.hasRecords = true;
    if (section.v1?.lists !== undefined) this.completed.add(section);
    if (record.invalid !== undefined) {
      if (section === domainPolicySection) this.domainPolicyIssue ??= record.invalid;
      return;
    }
    for (const mark of section.adjusted?.marks(json) ?? []) this.lastMarked.set(mark, documentPath(recordKey(record)));
    this.hasLoginNames ||= claimsLoginNames(section);
    // If the file contains a policy several times, use the first, because the import writes the first. Ignore a policy
    // that breaks a rule, because the import does not write it.
    if (section === domainPolicySection) this.validatesDomains ??= requiresValidation(json);
    if (section === passwordPolicySection && checkComplexityPolicy(json) === undefined)
      this.passwordComplexity ??= parseComplexity(json);
  }

  /**
   * Adds the content of a later entry for the same organisation.
   * @returns the values that contradict this draft
   */
  merge(later: OrganisationDraft): Contradiction[] {
    const contradictions: Contradiction[] = [];
    for (const [name, entry] of later.entries) {
      const first = this.entries.get(name);
      if (first === undefined) this.set(name, later.get(name), entry);
      else if (!isDeepStrictEqual(this.get(name), later.get(name)))
        contradictions.push({ path: ['orgs', entry, name], firstPath: formatPath(['orgs', first, name]) });
    }
    for (const section of later.completed) this.completed.add(section);
    this.invalidField ??= later.invalidField;
    this.hasLoginNames ||= later.hasLoginNames;
    this.domainPolicyIssue ??= later.domainPolicyIssue;
    this.passwordComplexity ??= later.passwordComplexity;
    this.validatesDomains ??= later.validatesDomains;
    for (const [mark, path] of later.lastMarked) this.lastMarked.set(mark, path);
    return contradictions;
  }

  toHeader(): OrganisationHeader {
    const orgId = this.orgId ?? '';
    return {
      orgId,
      record: this.ownRecord(orgId),
      importedFrom: this.importedFrom,
      additions: this.additions,
      hasLoginNames: this.hasLoginNames,
      passwordComplexity: this.passwordComplexity,
      validatesDomains: this.validatesDomains,
      domainPolicyIssue: this.validatesDomains === undefined ? this.domainPolicyIssue : undefined,
      lastMarked: this.lastMarked,
      orphaned: this.countOrphaned(),
    };
  }

  private get hasOwnRecord(): boolean {
    return isJsonObject(this.fields.org) || this.invalidField !== undefined;
  }

  private ownRecord(orgId: string): OrganisationRecord | undefined {
    if (!this.hasOwnRecord) return undefined;
    const { invalidField } = this;
    const { org, orgState } = this.fields;
    const json: JsonObject = {
      orgId,
      ...defined({ org, orgState }),
    };
    const record = toRecord(organisationSection, json, orgId);
    if (invalidField === undefined) return record;
    const digest = hash('sha256', JSON.stringify([record.digest, invalidField.digest]), 'base64url');
    return { ...record, digest, invalid: invalidField.issue };
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
    const { orgState } = this.fields;
    const lists = [...this.additions].flatMap(([section, listsByName]) =>
      this.completed.has(section) ? [] : Object.entries(listsByName),
    );
    const lengths = lists.map(([name, list]): [string, number] => [name, list.length]);
    return { ...Object.fromEntries(lengths), ...(this.hasOwnRecord || orgState === undefined ? {} : { orgState: 1 }) };
  }
}
