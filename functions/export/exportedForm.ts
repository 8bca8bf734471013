import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../shared/json/jsonObject.ts';
import { fillDefaults } from '../../shared/organisation/filledFields.ts';
import { readRecord } from '../../shared/organisation/record.ts';
import { isInSection, type Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

/** The form that records take in an export file, as ZITADEL's exports have them (zitadel 4.3). */
export class ExportedForm {
  private readonly providers: CachedDocuments;

  constructor(snapshot: Snapshot) {
    this.providers = new CachedDocuments(snapshot, 'identityProviders', ['partition', 'body']);
  }

  /** Converts a section's stored records to the form in which the file has them. */
  async convert(section: Section, documents: readonly StoredDocument[]): Promise<readonly StoredDocument[]> {
    const { innerId, defaults, fromProvider } = section;
    if (innerId !== undefined) return documents.map((document) => repeatId(innerId, document));
    if (defaults !== undefined) return documents.map((document) => rewrite(section, document, fillDefaults));
    return fromProvider === undefined ? documents : this.describeProviders(section, fromProvider, documents);
  }

  /** Fills the fields that describe the records' identity providers. Records whose provider is missing keep theirs. */
  private async describeProviders(
    section: Section,
    { id, name, type }: NonNullable<Section['fromProvider']>,
    documents: readonly StoredDocument[],
  ): Promise<readonly StoredDocument[]> {
    const records = documents.map(parseBody);
    const providers = await this.providers.find(records.map((json) => textAt(json, id, '')));
    return documents.map((document, index) => {
      const provider = providers.get(textAt(records[index] ?? {}, id, ''));
      if (provider === undefined) return document;
      const description = { [name]: providerName(provider), [type]: providerType(provider) };
      return rewrite(section, document, (_section, json) => fill(json, description));
    });
  }
}

/** Sets fields; returns whether that changed any. */
function fill(json: JsonObject, fields: Readonly<Record<string, unknown>>): boolean {
  const changed = Object.entries(fields).filter(([path, value]) => valueAt(json, path) !== value);
  for (const [path, value] of changed) putAt(json, path, value);
  return changed.length > 0;
}

/** Changes a record's JSON; its digest becomes that of the record in the file. */
function rewrite(
  section: Section,
  document: StoredDocument,
  change: (section: Section, json: JsonObject) => boolean,
): StoredDocument {
  const json = parseBody(document);
  if (!change(section, json)) return document;
  const { body, digest } = readRecord(section, json, document.orgId ?? '');
  return { ...document, body, digest };
}

/**
 * Repeats a record's id in its inner object. An import removes it again, so that the digest does not change. Ids are
 * copied as text: parsing takes longer than the database read.
 */
function repeatId({ from, inner }: NonNullable<Section['innerId']>, document: StoredDocument): StoredDocument {
  const { body = '' } = document;
  const before = `{"${from}":`;
  const opening = `,"${inner}":{`;
  const at = body.indexOf(opening);
  if (!body.startsWith(before) || at < 0) throw new Error(`the record ${document.id} does not start with its id`);
  const start = at + opening.length;
  const separator = body[start] === '}' ? '' : ',';
  return {
    ...document,
    body: `${body.slice(0, start)}"${from}":${body.slice(before.length, at)}${separator}${body.slice(start)}`,
  };
}

function providerName(provider: StoredDocument): string {
  return textAt(parseBody(provider), 'idp.name', '');
}

function providerType({ partition }: StoredDocument): Section['providerType'] {
  return sections.find((section) => isInSection(partition, section))?.providerType;
}

function parseBody({ body = '{}' }: StoredDocument): JsonObject {
  const json: unknown = JSON.parse(body);
  return isJsonObject(json) ? json : {};
}
