import type { InstanceDescription } from '../../shared/instance.ts';
import { parseObject } from '../../shared/json/jsonObject.ts';
import { type ExportedManifest, type IgnoredField, ManifestTally } from '../../shared/organisation/exportFile.ts';
import type { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import { type Credential, type Credentials, isList, type Section } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { StoredDocument } from '../../shared/store/store.ts';
import type { CrossOrganisationRecords } from './crossOrganisationRecords.ts';
import type { ExportedForm } from './exportedForm.ts';
import type { OmittedOrganisations } from './omittedOrganisations.ts';
import type { RecordReader, SectionRecords } from './recordReader.ts';
import type { RecordsInDeletion } from './recordsInDeletion.ts';

/** A stored credential and its inserter into a record's JSON. */
interface CredentialInsertion {
  readonly field: Credential['field'];
  readonly insert: TextInserter;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** Where an export comes from, for the manifest. */
export interface ExportOrigin extends InstanceDescription {
  /** The caller, and its organisation; undefined without a token. */
  readonly exportedBy?: { readonly userId: string; readonly orgId: string };
}

/** What an export file contains. */
export interface ExportSource {
  /** The instance, and who exports. */
  readonly origin: ExportOrigin;
  /** The moment of the snapshot. */
  readonly readTime: Date;
  /** Reads the organisations, once for each pass that the file needs. */
  readonly organisations: () => AsyncIterable<readonly StoredDocument[]>;
  /** Opens the reader of the organisations' records, in the selected sections. */
  readonly openReader: (isRead?: (section: Section) => boolean) => RecordReader;
  readonly form: ExportedForm;
  /** The filter of records that refer to what is being deleted. */
  readonly inDeletion: RecordsInDeletion;
  /** The separator of the records that stand in a second entry of their organisation; undefined if none do. */
  readonly crossOrganisation: CrossOrganisationRecords | undefined;
  /** The check for references to organisations that a partial export omits; undefined for a whole one. */
  readonly omitted: OmittedOrganisations | undefined;
  readonly leftToDo: LeftToDo;
  /** What the manifest says of the request. */
  readonly secrets: ExportedManifest['secrets'];
  readonly ignored: readonly IgnoredField[];
}

/** The entry of an organisation: the first one, or that with its records on other organisations' projects. */
type Entry = 'first' | 'second';

/** A writer of an export file (zitadel 2): organisations, read from one snapshot on demand, then the manifest. */
export class ExportWriter {
  private readonly source: ExportSource;
  private readonly tally = new ManifestTally();

  constructor(source: ExportSource) {
    this.source = source;
  }

  /** The file's manifest, complete once `chunks` has ended. */
  get manifest(): ExportedManifest {
    const { origin, readTime, secrets, ignored } = this.source;
    const { instance, defaultOrgId, exportedBy } = origin;
    const { entries, omitted } = this.source.leftToDo;
    return {
      version: 1,
      instance,
      readTime: readTime.toISOString(),
      counts: this.tally.counts,
      digest: this.tally.digest,
      ...(defaultOrgId === undefined ? {} : { defaultOrgId }),
      ...(exportedBy === undefined ? {} : { exportedBy }),
      secrets,
      ignored: [...ignored],
      leftToDo: entries,
      ...(omitted === 0 ? {} : { leftToDoOmitted: omitted }),
    };
  }

  /**
   * Yields the file's bytes in chunks of about 64 KiB.
   * @throws the signal's reason when that aborts
   */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let pending = '';
    for await (const text of this.texts()) {
      signal.throwIfAborted();
      pending += text;
      if (pending.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(pending);
      pending = '';
    }
    yield Buffer.from(pending);
  }

  private async *texts(): AsyncGenerator<string> {
    yield '{"orgs":[';
    yield* this.organisations();
    const inSecond = new Set(this.source.crossOrganisation?.sections);
    if (inSecond.size > 0) yield* this.secondEntries(inSecond);
    yield `],"manifest":${JSON.stringify(this.manifest)}}\n`;
  }

  private async *organisations(): AsyncGenerator<string> {
    await using reader = this.source.openReader();
    let separator = '';
    for await (const documents of this.source.organisations()) {
      for (const document of documents) {
        yield separator;
        yield* this.organisation(document, reader);
        separator = ',';
      }
    }
  }

  /** Yields the second entries of organisations, with their records on other organisations' projects. */
  private async *secondEntries(sections: ReadonlySet<Section>): AsyncGenerator<string> {
    await using reader = this.source.openReader((section) => sections.has(section));
    for await (const documents of this.source.organisations())
      for (const { orgId = '' } of documents) yield* this.secondEntry(orgId, reader);
  }

  private async *secondEntry(orgId: string, reader: RecordReader): AsyncGenerator<string> {
    let opened = false;
    for await (const records of reader.sections(orgId)) {
      for await (const text of this.section(records, 'second')) {
        if (!opened && text !== '') yield `,{"orgId":${JSON.stringify(orgId)}`;
        opened ||= text !== '';
        yield text;
      }
    }
    if (opened) yield '}';
  }

  private async *organisation(document: StoredDocument, reader: RecordReader): AsyncGenerator<string> {
    const { body = '{}', orgId = '' } = document;
    const { orgState, ...leading } = parseObject(body);
    this.tally.addOrganisation();
    this.count(organisationSection, document);
    yield JSON.stringify(leading).slice(0, -1);
    for await (const records of reader.sections(orgId)) yield* this.section(records, 'first');
    yield orgState === undefined ? '}' : `,"orgState":${JSON.stringify(orgState)}}`;
  }

  /** Yields a section's records of one entry, and an empty text for a batch without any, so that an abort is noticed. */
  private async *section({ section, batches }: SectionRecords, entry: Entry): AsyncGenerator<string> {
    const list = isList(section);
    const insertions = (section.credentials ?? []).map(({ path, field }) => ({ field, insert: textInserter(path) }));
    let opened = false;
    for await (const stored of batches) {
      const documents = await this.convert(section, stored, entry);
      if (documents.length === 0) {
        yield '';
        continue;
      }
      const text = documents.map((document) => this.record(section, document, insertions)).join(',');
      yield opened ? `,${text}` : `,"${section.name}":${list ? '[' : ''}${text}`;
      opened = true;
    }
    if (opened && list) yield ']';
  }

  private async convert(section: Section, stored: readonly StoredDocument[], entry: Entry) {
    const { form, inDeletion, crossOrganisation, omitted } = this.source;
    const exported = await inDeletion.omit(section, stored);
    const documents =
      crossOrganisation === undefined ? exported : (await crossOrganisation.split(section, exported))[entry];
    if (documents.length === 0) return documents;
    await omitted?.check(section, documents);
    return form.convert(section, documents);
  }

  private record(section: Section, document: StoredDocument, insertions: readonly CredentialInsertion[]): string {
    this.count(section, document);
    const { body = '{}', otpEmail } = document;
    let json = otpEmail === true ? `{"otpEmail":true,${body.slice(1)}` : body;
    for (const { field, insert } of insertions) {
      const credential = document[field];
      if (credential !== undefined) json = insert(json, credential);
    }
    return json;
  }

  private count(section: Section, document: StoredDocument): void {
    const { orgId = '', digest = '', otpEmail = false } = document;
    const credentials: Credentials = document;
    this.tally.add({ section: section.name, orgId, digest, credentials, otpEmail });
    this.source.leftToDo.addRecord(section, document);
  }
}

/** A function that inserts a text into a record's JSON. */
export type TextInserter = (json: string, text: string) => string;

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
