import { isJsonObject, type JsonObject, putAt, textAt, textsAt, valueAt } from '../../shared/json/jsonObject.ts';
import { fillDefaults } from '../../shared/organisation/filledFields.ts';
import type { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import { readRecord } from '../../shared/organisation/record.ts';
import { isInSection, type Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

/** The form that records take in an export file (zitadel 4.3, 4.6). */
export class ExportedForm {
  private readonly providers: CachedDocuments;
  private readonly leftToDo: LeftToDo;
  private readonly forZitadel: boolean;

  constructor(snapshot: Snapshot, leftToDo: LeftToDo, forZitadel: boolean) {
    this.providers = new CachedDocuments(snapshot, 'identityProviders', ['orgId', 'partition', 'body']);
    this.leftToDo = leftToDo;
    this.forZitadel = forZitadel;
  }

  /** Converts a section's stored records to the form in which the file has them. */
  async convert(section: Section, documents: readonly StoredDocument[]): Promise<readonly StoredDocument[]> {
    const { innerId, defaults, fromProvider, usesProviders } = section;
    let converted = documents;
    if (innerId !== undefined) converted = converted.map((document) => repeatId(innerId, document));
    if (defaults !== undefined)
      converted = converted.map((document) => rewrite(section, document, (json) => fillDefaults(section, json)));
    if (usesProviders !== undefined) converted = await this.checkProviders(section, usesProviders, converted);
    return fromProvider === undefined ? converted : this.describeProviders(section, fromProvider, converted);
  }

  /** Finds the records' identity providers that the file does not hold. A file for ZITADEL does not name them. */
  private async checkProviders(
    section: Section,
    list: string,
    documents: readonly StoredDocument[],
  ): Promise<readonly StoredDocument[]> {
    const namedProviders = (document: StoredDocument) => textsAt(parseBody(document), `${list}[].idpId`, '');
    const providers = await this.providers.find(documents.flatMap(namedProviders));
    return documents.map((document) => {
      const missing = namedProviders(document).filter((id) => providers.get(id)?.orgId !== document.orgId);
      this.leftToDo.addMissingProviders(section, document, missing);
      if (!this.forZitadel) return document;
      return rewrite(section, document, (json) => leaveOut(json, list, missing));
    });
  }

  /** Fills the fields that describe the records' identity providers. Records whose provider is missing keep theirs. */
  private async describeProviders(
    section: Section,
    { id, name, type }: NonNullable<Section['fromProvider']>,
    documents: readonly StoredDocument[],
  ): Promise<readonly StoredDocument[]> {
    const ids = documents.map((document) => textAt(parseBody(document), id, ''));
    const providers = await this.providers.find(ids);
    return documents.map((document, index) => {
      const providerId = ids[index] ?? '';
      const provider = providers.get(providerId);
      if (provider?.orgId !== document.orgId) this.leftToDo.addMissingProviders(section, document, [providerId]);
      if (provider === undefined) return document;
      const description = { [name]: providerName(provider), [type]: providerType(provider) };
      return rewrite(section, document, (json) => fill(json, description));
    });
  }
}

/** Removes providers from a list; returns whether it had any of them. */
function leaveOut(json: JsonObject, list: string, providers: readonly string[]): boolean {
  const elements: readonly unknown[] = Array.isArray(json[list]) ? json[list] : [];
  json[list] = elements.filter((element) => !isJsonObject(element) || !providers.includes(String(element.idpId)));
  return providers.length > 0;
}

/** Sets fields; returns whether that changed any. */
function fill(json: JsonObject, fields: Readonly<Record<string, unknown>>): boolean {
  const changed = Object.entries(fields).filter(([path, value]) => valueAt(json, path) !== value);
  for (const [path, value] of changed) putAt(json, path, value);
  return changed.length > 0;
}

/** Changes a record's JSON; its digest becomes that of the record in the file. */
function rewrite(section: Section, document: StoredDocument, change: (json: JsonObject) => boolean): StoredDocument {
  const json = parseBody(document);
  if (!change(json)) return document;
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
