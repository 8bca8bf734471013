import { z } from 'zod';
import { parseObject, textAt } from '../json/jsonObject.ts';
import type { StoredDocument } from '../store/store.ts';
import {
  type FileContent,
  type LeftToDoRule,
  leftToDoRules,
  missingProviders,
  omittedOrganisations,
} from './leftToDoRules.ts';
import type { Section } from './section.ts';

/** The schema of an entry of a manifest's `leftToDo`. */
export const leftToDoEntry = z.object({
  type: z.string().describe('The type of record, as in the `errors` of an import.'),
  id: z.string().optional().describe('The record, as in the `errors` of an import; absent if the entry is about all.'),
  message: z.string(),
});

type Entry = z.infer<typeof leftToDoEntry>;

/** Bounds the entries of each rule, so that memory and manifest do not grow with the file. */
const MAX_LISTED = 100;

/** A list of what remains to be done by hand after an import of a file: what the file lacks, and what the target changes. */
export class LeftToDo {
  private readonly content: FileContent;
  private readonly rules: ReadonlyMap<string, readonly LeftToDoRule[]>;
  private readonly listed = new Map<LeftToDoRule, Entry[]>();
  private omittedEntries = 0;

  constructor(content: FileContent) {
    this.content = content;
    const applicable = leftToDoRules.filter(({ when }) => when?.(content) ?? true);
    const names = new Set(applicable.flatMap(({ sections }) => sections));
    this.rules = new Map([...names].map((name) => [name, applicable.filter((rule) => rule.sections.includes(name))]));
  }

  /**
   * Adds a record of the file.
   * @param document the record with the credentials that the file holds
   */
  addRecord(section: Section, document: StoredDocument): void {
    for (const rule of this.rules.get(section.name) ?? [])
      if (rule.applies?.(document) ?? true) this.add(rule, section, document);
  }

  /** Adds the identity providers to which a record refers, and which the file does not hold. */
  addMissingProviders(section: Section, document: StoredDocument, providers: readonly string[]): void {
    const rule = missingProviders(section, this.content);
    if (providers.length > 0) this.add(rule, section, document, `: ${providers.join(', ')}`);
  }

  /** Adds the organisations to which a record refers, and which the file does not hold. */
  addOmittedOrganisations(section: Section, document: StoredDocument, orgIds: readonly string[]): void {
    if (orgIds.length > 0) this.add(omittedOrganisations, section, document, `: ${orgIds.join(', ')}`);
  }

  /** Adds a record of which the sender of the file knows more than the record shows. */
  addKnown(rule: LeftToDoRule, section: Section, document: StoredDocument): void {
    this.add(rule, section, document);
  }

  /** The first entries of each rule, in the rules' order. */
  get entries(): Entry[] {
    const inOrder = [...leftToDoRules, ...this.listed.keys()];
    return [...new Set(inOrder)].flatMap((rule) => this.listed.get(rule) ?? []);
  }

  /** The number of further entries. */
  get omitted(): number {
    return this.omittedEntries;
  }

  private add(rule: LeftToDoRule, section: Section, document: StoredDocument, detail = ''): void {
    const entries = this.listed.get(rule) ?? [];
    this.listed.set(rule, entries);
    if (rule.scope === 'file' && entries.length > 0) return;
    const id = entryId(rule, section, document);
    const { type } = section.error;
    const last = entries.at(-1);
    if (rule.scope === 'organisation' && last?.id === id && last?.type === type) return;
    if (entries.length >= MAX_LISTED) this.omittedEntries++;
    else entries.push({ type, ...(id === undefined ? {} : { id }), message: `${rule.message}${detail}` });
  }
}

function entryId({ scope }: LeftToDoRule, section: Section, document: StoredDocument): string | undefined {
  const { orgId = '', body } = document;
  if (scope !== 'record') return scope === 'organisation' ? orgId : undefined;
  const record = parseObject(body);
  return section.error.id.map((path) => textAt(record, path, orgId)).join('_');
}
