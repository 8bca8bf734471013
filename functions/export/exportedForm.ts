import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { restoreFieldOrder } from '../../shared/organisation/exportForm.ts';
import type { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import { serialise } from '../../shared/organisation/recordBody.ts';
import { type ExportForm, isInSection, type Provider, type Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

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
    const { innerId, fill, providers = () => [], keepProviders } = section.exported ?? {};
    if (innerId !== undefined) return documents.map((document) => repeatId(innerId, document));
    if (fill === undefined) return documents;
    const records = documents.map(({ body }) => parseObject(body));
    const found = await this.providers.find(records.flatMap(providers));
    return documents.map((document, index) => {
      const { [index]: json = {} } = records;
      const { orgId = '' } = document;
      const isOwn = (id: string) => found.get(id)?.orgId === orgId;
      const missing = providers(json).filter((id) => !isOwn(id));
      this.leftToDo.addMissingProviders(section, document, missing);
      const leavesOut = this.forZitadel && keepProviders !== undefined && missing.length > 0;
      if (leavesOut) keepProviders(json, isOwn);
      if (!fill(json, orgId, (id) => found.get(id)) && !leavesOut) return document;
      restoreFieldOrder(section, json);
      return { ...document, ...serialise(json) };
    });
  }
}

/**
 * Repeats a record's id in its inner object. An import removes it again, so that the digest does not change. Ids are
 * copied as text: parsing takes longer than the database read.
 */
function repeatId({ from, inner }: NonNullable<ExportForm['innerId']>, document: StoredDocument): StoredDocument {
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
  const type = sections.find((section) => isInSection(partition, section))?.exported?.providerType;
  return { orgId, name: textAt(parseObject(document.body), 'idp.name', ''), type };
}
