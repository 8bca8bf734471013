import { z } from 'zod';
import { BoundedList } from '../collections/boundedList.ts';
import { defined, withoutEmpty } from '../defined.ts';
import { shortenedText } from '../errors/identityError.ts';
import { type IssueValues, issueParams, issueText, type Reader } from '../errors/issueText.ts';
import { parseObject, textAt } from '../json/jsonObject.ts';
import { domainPolicySection, requiresValidation } from '../organisation/sections/policies.ts';
import type { Section } from '../organisation/sections/section.ts';
import { allReleases } from '../organisation/zitadelReleases.ts';
import { MAX_DOCUMENT_BYTES, type StoredDocument } from '../store/store.ts';
import { type FileContent, type LeftToDoRule, leftToDoRules, missingProviders, otherRules } from './leftToDoRules.ts';

export const leftToDoEntry = z.object({
  type: z.string().describe('The type of record, as in the `errors` of an import.'),
  id: z
    .string()
    .exactOptional()
    .describe('The id of the record, as in the `errors` of an import; absent if the entry concerns all records.'),
  reason: z.string().describe('The name of the step, which never changes, unlike the message.'),
  params: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('The parameters of the step, whose names and meanings never change; absent if the step has none.'),
  message: z.string(),
});

export type LeftToDoEntry = z.infer<typeof leftToDoEntry>;

/** A manual step. `further` is the number of steps with the same message that the list does not contain. */
export type CountedEntry = LeftToDoEntry & { readonly further?: number | undefined };

/**
 * The maximum number of steps that are listed for one rule, so that memory and the manifest do not grow with the file.
 */
const MAX_LISTED = 100;
/**
 * The maximum size in bytes of the steps that are listed for one rule. With this limit, the steps of all rules and the
 * other fields fit into a manifest.
 */
export const MAX_LISTED_BYTES = Math.floor(
  (0.8 * MAX_DOCUMENT_BYTES) / [...leftToDoRules, ...otherRules].filter(({ scope }) => scope !== 'file').length,
);
/**
 * The maximum length of a step's id, and of its message, which may quote texts of records. With this limit, a manifest
 * has room for at least one step of each rule, even if every character must be escaped.
 */
const MAX_TEXT_CHARACTERS = 1_000;

/**
 * Collects the manual steps that a user must take after the import of a file. A step is needed if the file lacks some
 * content, or if the target changes or loses some content.
 */
export class LeftToDo {
  private readonly content: FileContent;
  private readonly reader: Reader;
  private readonly rules: ReadonlyMap<string, readonly LeftToDoRule[]>;
  private readonly listed = new Map<LeftToDoRule, BoundedList<LeftToDoEntry>>();
  private readonly last = new Map<LeftToDoRule, string>();
  /**
   * The ids of the organisations whose domain policy requires the validation of domains. A file contains the policy
   * before the domains, so the id is in this set before the first domain arrives.
   */
  private readonly validating = new Set<string>();
  /** Maps a listed step to the number of steps with the same message and record type that the list does not contain. */
  private readonly further = new Map<LeftToDoEntry, number>();

  /** @param reader the audience of the messages: users of the command, or clients of the HTTP interface */
  constructor(content: FileContent, reader: Reader) {
    this.content = content;
    this.reader = reader;
    const applicable = leftToDoRules.filter(({ when }) => when?.(content) ?? true);
    const names = new Set(applicable.flatMap(({ sections }) => sections));
    this.rules = new Map([...names].map((name) => [name, applicable.filter((rule) => rule.sections.includes(name))]));
  }

  /** @param document the record, with the credentials that the file contains */
  addRecord(section: Section, document: StoredDocument): void {
    const { orgId = '', body } = document;
    if (section === domainPolicySection && requiresValidation(parseObject(body))) this.validating.add(orgId);
    const { releases = allReleases } = this.content;
    for (const rule of this.rules.get(section.name) ?? [])
      if (
        !(rule.unlessValidated === true && this.validating.has(orgId)) &&
        (rule.applies?.(document, releases) ?? true)
      )
        this.add(rule, section, document, rule.params?.(document, releases));
  }

  /** @param providers the ids of the identity providers that the file lacks although the record refers to them */
  addMissingProviders(section: Section, document: StoredDocument, providers: readonly string[]): void {
    if (providers.length > 0) this.add(missingProviders(section, this.content), section, document, { providers });
  }

  /**
   * Adds a step for a record to which a rule applies. `addRecord` calls this method for the rules that depend on one
   * record, and other modules call it for the rules that depend on several records.
   * @param values the values of the parameters in the rule's texts
   */
  add(rule: LeftToDoRule, section: Section, document: StoredDocument, values: IssueValues = {}): void {
    const entries = this.listed.get(rule) ?? emptyList(this.content);
    if (rule.scope === 'file' && entries.size > 0) return;
    this.listed.set(rule, entries);
    const id = entryId(rule, section, document);
    const { type } = section.error;
    if (rule.scope === 'organisation' && this.last.get(rule) === `${type} ${id}`) return;
    this.last.set(rule, `${type} ${id}`);
    const params = Object.fromEntries(
      Object.entries(issueParams(values)).map(([name, value]) => [name, shortened(value)]),
    );
    const message = issueText(rule.row, params, this.reader);
    entries.add({
      type,
      ...defined({ id: id && shortened(id) }),
      reason: rule.reason,
      ...withoutEmpty({ params }),
      message,
    });
    if (entries.omitted === 0) return;
    const same = entries.entries.findLast((entry) => entry.type === type && entry.message === message);
    if (same !== undefined) this.further.set(same, (this.further.get(same) ?? 0) + 1);
  }

  get entries(): LeftToDoEntry[] {
    return this.rulesFor(this.content).flatMap((rule) => this.entriesOf(rule));
  }

  /**
   * Returns the listed steps, each with the number of unlisted steps that have the same message. Call this after the
   * whole file was read, because only then does `content` contain which secrets the file has. If the request selected
   * secrets that the file lacks, the step about these secrets has another text.
   */
  countedEntriesFor(content: FileContent): CountedEntry[] {
    return this.rulesFor(content).flatMap((rule) =>
      this.entriesOf(rule).map((entry) => {
        const further = this.further.get(entry);
        return { ...entry, ...this.lacked(rule, content), ...defined({ further }) };
      }),
    );
  }

  /** The listed steps, in the form in which an import into ZITADEL warns of them. */
  get warnings(): LeftToDoEntry[] {
    return this.rulesFor(this.content).flatMap((rule) =>
      this.entriesOf(rule).map((entry) => ({ ...entry, ...this.lacked(rule, this.content) })),
    );
  }

  /**
   * Returns the reason and the message for a step about secrets that the file lacks although the request selected them.
   * In this case the source lacks the secrets too. In all other cases, returns no fields.
   */
  private lacked({ lacks }: LeftToDoRule, { asked }: FileContent): Partial<LeftToDoEntry> {
    if (lacks === undefined || asked?.[lacks.field] !== true) return {};
    const { reason, row } = lacks.step;
    return { reason, message: issueText(row, {}, this.reader) };
  }

  private rulesFor(content: FileContent): LeftToDoRule[] {
    const inOrder = [...leftToDoRules, ...this.listed.keys()].filter(({ when }) => when?.(content) ?? true);
    return [...new Set(inOrder)];
  }

  private entriesOf(rule: LeftToDoRule): readonly LeftToDoEntry[] {
    return this.listed.get(rule)?.entries ?? [];
  }

  get omitted(): number {
    return this.listed.values().reduce((sum, { omitted }) => sum + omitted, 0);
  }
}

function shortened(text: string): string {
  return shortenedText(text, MAX_TEXT_CHARACTERS);
}

/** The command needs the step of every record if it imports into ZITADEL itself. So the list then has no limit. */
function emptyList({ inSteps }: FileContent): BoundedList<LeftToDoEntry> {
  return inSteps === true
    ? new BoundedList<LeftToDoEntry>(Number.POSITIVE_INFINITY)
    : new BoundedList<LeftToDoEntry>(MAX_LISTED, [], MAX_LISTED_BYTES);
}

function entryId({ scope }: LeftToDoRule, section: Section, document: StoredDocument): string | undefined {
  const { orgId = '', body } = document;
  if (scope !== undefined) return scope === 'organisation' ? orgId : undefined;
  const record = parseObject(body);
  return section.error.id.map((path) => textAt(record, path, orgId)).join('_');
}
