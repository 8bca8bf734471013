import {
  isJsonObject,
  type JsonObject,
  parseObject,
  putAt,
  textAt,
  textsAt,
  valueAt,
} from '../../shared/json/jsonObject.ts';
import { fillDefaults } from '../../shared/organisation/filledFields.ts';
import type { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import { restoreFieldOrder, serialise } from '../../shared/organisation/recordBody.ts';
import { isInSection, type Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

/** An identity provider, as far as other records describe it. */
interface Provider {
  readonly orgId: string;
  readonly name: string;
  readonly type: Section['providerType'];
}

/** The form that records take in an export file (zitadel 4.3, 4.6). */
export class ExportedForm {
  private readonly providers: CachedDocuments<Provider>;
  private readonly leftToDo: LeftToDo;
  private readonly forZitadel: boolean;

  constructor(snapshot: Snapshot, leftToDo: LeftToDo, forZitadel: boolean) {
    this.providers = new CachedDocuments(snapshot, 'identityProviders', ['orgId', 'partition', 'body'], toProvider);
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

  /** Finds the records' identity providers that are not their organisation's. A file for ZITADEL does not name them. */
  private async checkProviders(
    section: Section,
    uses: NonNullable<Section['usesProviders']>,
    documents: readonly StoredDocument[],
  ): Promise<readonly StoredDocument[]> {
    const namedProviders = (document: StoredDocument) =>
      textsAt(parseObject(document.body), `${uses.list}[].idpId`, '');
    const providers = await this.providers.find(documents.flatMap(namedProviders));
    return documents.map((document) => {
      const isOwn = (id: string) => providers.get(id)?.orgId === document.orgId;
      const missing = namedProviders(document).filter((id) => !isOwn(id));
      this.leftToDo.addMissingProviders(section, document, missing);
      const left = this.forZitadel ? missing : [];
      return rewrite(section, document, (json) => convertProviders(json, uses, isOwn, left));
    });
  }

  /** Fills the fields that describe the records' identity providers. Records whose provider is missing keep theirs. */
  private async describeProviders(
    section: Section,
    { id, name, type }: NonNullable<Section['fromProvider']>,
    documents: readonly StoredDocument[],
  ): Promise<readonly StoredDocument[]> {
    const ids = documents.map((document) => textAt(parseObject(document.body), id, ''));
    const providers = await this.providers.find(ids);
    return documents.map((document, index) => {
      const providerId = ids[index] ?? '';
      const provider = providers.get(providerId);
      if (provider?.orgId !== document.orgId) this.leftToDo.addMissingProviders(section, document, [providerId]);
      if (provider === undefined) return document;
      const description = { [name]: provider.name, [type]: provider.type };
      return rewrite(section, document, (json) => fill(json, description));
    });
  }
}

/**
 * Sets the type of the organisation's own providers in a list, and leaves out others.
 * @returns whether that changed the list
 */
function convertProviders(
  json: JsonObject,
  { list, ownerType, ofOrganisation }: NonNullable<Section['usesProviders']>,
  isOwn: (id: string) => boolean,
  left: readonly string[],
): boolean {
  const elements = Array.isArray(json[list]) ? json[list].filter(isJsonObject) : [];
  const mistyped = elements.filter(
    (element) => isOwn(textAt(element, 'idpId', '')) && element[ownerType] !== ofOrganisation,
  );
  for (const element of mistyped) element[ownerType] = ofOrganisation;
  json[list] = elements.filter((element) => !left.includes(textAt(element, 'idpId', '')));
  return mistyped.length > 0 || left.length > 0;
}

/** Sets fields; returns whether that changed any. */
function fill(json: JsonObject, fields: Readonly<Record<string, unknown>>): boolean {
  const changed = Object.entries(fields).filter(([path, value]) => valueAt(json, path) !== value);
  for (const [path, value] of changed) putAt(json, path, value);
  return changed.length > 0;
}

/** Changes a record's JSON; its digest becomes that of the record in the file. */
function rewrite(section: Section, document: StoredDocument, change: (json: JsonObject) => boolean): StoredDocument {
  const json = parseObject(document.body);
  if (!change(json)) return document;
  restoreFieldOrder(section, json);
  return { ...document, ...serialise(json) };
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

function toProvider(document: StoredDocument): Provider {
  const { orgId = '', partition } = document;
  const type = sections.find((section) => isInSection(partition, section))?.providerType;
  return { orgId, name: textAt(parseObject(document.body), 'idp.name', ''), type };
}
