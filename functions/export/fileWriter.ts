// The text of an export file.

import { parseObject } from '../../shared/json/jsonObject.ts';
import { sections } from '../../shared/organisation/allSections.ts';
import { type Credential, IMPORTED_FROM, isList, type Section } from '../../shared/organisation/section.ts';
import type { StoredDocument } from '../../shared/store/store.ts';
import type { Entry } from './exportedRecords.ts';

/** Writes the entries of an export file. Only this class writes the brackets and commas between them. */
export class FileWriter {
  private readonly hasOrigins: boolean;
  private texts: string[] = ['{"orgs":['];
  /** The beginning of the current entry, if it has not been written yet. */
  private opening: string | undefined;
  private ending = '';
  private section: Section | undefined;
  /** The text before the next entry, and before the next record. */
  private readonly separators = { entry: '', record: '' };

  /** @param hasOrigins whether to write the instance from whose export an import created the organisation */
  constructor(hasOrigins: boolean) {
    this.hasOrigins = hasOrigins;
  }

  /** Begins an organisation's entry. A second entry contains only the id, and is written only if it has records. */
  begin({ body = '{}', orgId = '', importedFrom }: StoredDocument, entry: Entry): void {
    if (entry === 'second') {
      this.opening = `{"orgId":${JSON.stringify(orgId)}`;
      this.ending = '}';
      return;
    }
    const { orgState, ...leading } = parseObject(body);
    const origin =
      importedFrom === undefined || !this.hasOrigins ? '' : `,"${IMPORTED_FROM}":${JSON.stringify(importedFrom)}`;
    const state = orgState === undefined ? '' : `,"orgState":${JSON.stringify(orgState)}`;
    this.opening = JSON.stringify(leading).slice(0, -1);
    this.ending = `${origin}${state}}`;
    this.open();
  }

  /** Adds one or more records of a section to the current entry. */
  add(section: Section, documents: readonly StoredDocument[]): void {
    this.open();
    if (section !== this.section) {
      this.closeSection();
      this.section = section;
      this.separators.record = `,"${section.name}":${isList(section) ? '[' : ''}`;
    }
    const insertions = insertionsOf.get(section) ?? [];
    for (const document of documents) {
      this.texts.push(`${this.separators.record}${recordText(document, insertions)}`);
      this.separators.record = ',';
    }
  }

  /** Ends the current entry. */
  end(): void {
    if (this.opening === undefined) {
      this.closeSection();
      this.texts.push(this.ending);
    }
    this.opening = undefined;
  }

  /** Ends the file. */
  finish(manifest: object): void {
    this.texts.push(`],"manifest":${JSON.stringify(manifest)}}\n`);
  }

  /** Returns the texts that were written since the last call. */
  take(): readonly string[] {
    const { texts } = this;
    this.texts = [];
    return texts;
  }

  private open(): void {
    if (this.opening === undefined) return;
    this.texts.push(`${this.separators.entry}${this.opening}`);
    this.separators.entry = ',';
    this.opening = undefined;
  }

  private closeSection(): void {
    if (this.section !== undefined && isList(this.section)) this.texts.push(']');
    this.section = undefined;
  }
}

type TextInserter = (json: string, text: string) => string;

/** A stored credential, and the function that inserts it into a record's JSON. */
interface CredentialInsertion {
  readonly field: Credential['field'];
  readonly insert: TextInserter;
}

const insertionsOf = new Map(
  sections.map((section): [Section, readonly CredentialInsertion[]] => [
    section,
    (section.credentials ?? []).map(({ path, field }) => ({ field, insert: textInserter(path) })),
  ]),
);

/** Returns a record's JSON with its credentials. */
function recordText(document: StoredDocument, insertions: readonly CredentialInsertion[]): string {
  const { body = '{}', otpEmail } = document;
  let json = otpEmail === true ? `{"otpEmail":true,${body.slice(1)}` : body;
  for (const { field, insert } of insertions) {
    const credential = document[field];
    if (credential !== undefined) json = insert(json, credential);
  }
  return json;
}

/**
 * Creates a function that inserts a text at `path`, such as `user.otpCode`. The record must have an object under the
 * path's first name and no value at the path. The record is not parsed, because parsing takes longer than the database
 * read. Since JSON.stringify escapes quotes in strings, `"user":{` occurs only where that object starts.
 */
export function textInserter(path: string): TextInserter {
  const [outer, ...inner] = path.split('.');
  const opening = `"${outer}":{`;
  const before = inner.map((name) => `"${name}":`).join('{');
  const after = '}'.repeat(inner.length - 1);
  return (json, text) => {
    const at = json.indexOf(opening) + opening.length;
    if (at < opening.length) throw new Error(`the record has no object ${outer}`);
    const separator = json[at] === '}' ? '' : ',';
    return `${json.slice(0, at)}${before}${JSON.stringify(text)}${after}${separator}${json.slice(at)}`;
  };
}
