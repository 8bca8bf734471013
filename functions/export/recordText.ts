import { sections } from '../../shared/organisation/allSections.ts';
import type { Credential, Section } from '../../shared/organisation/sections/section.ts';
import type { StoredDocument } from '../../shared/store/store.ts';

type TextInserter = (json: string, text: string) => string;

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

export function recordTexts(section: Section, documents: readonly StoredDocument[]): readonly string[] {
  const insertions = insertionsOf.get(section) ?? [];
  return documents.map((document) => recordText(document, insertions));
}

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
 * Creates a function that inserts a text into a record's JSON at `path`, such as `user.otpCode`. The record must have
 * an object under the path's first name, and no value at the path. The function does not parse the record, because
 * parsing takes longer than the database read. JSON.stringify escapes quotes in strings, so `"user":{` occurs only at
 * the start of that object.
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
