import { isJsonObject } from '../../shared/json/jsonObject.ts';
import { type Manifest, ManifestTally } from '../../shared/organisation/exportFile.ts';
import {
  type Credential,
  type Credentials,
  isList,
  type Section,
  sectionPartition,
} from '../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { readAhead } from './readAhead.ts';

/** The optional content of an export (specification 2.4). */
export interface ExportContent {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
}

/** A stored credential and its inserter into a record's JSON. */
interface CredentialInsertion {
  readonly field: Credential['field'];
  readonly insert: TextInserter;
}

/** Most sections are small, and each costs a round trip: this many are requested in advance. */
const SECTIONS_AHEAD = 8;
const CHUNK_CHARACTERS = 64 * 1024;

/** A writer of an export file (zitadel 2): organisations, read from one snapshot on demand, then the manifest. */
export class ExportWriter {
  private readonly snapshot: Snapshot;
  private readonly content: ExportContent;
  private readonly instance: string;
  private readonly tally = new ManifestTally();

  constructor(snapshot: Snapshot, content: ExportContent, instance: string) {
    this.snapshot = snapshot;
    this.content = content;
    this.instance = instance;
  }

  /** The file's manifest, complete once `chunks` has ended. */
  get manifest(): Manifest {
    return {
      version: 1,
      instance: this.instance,
      readTime: this.snapshot.readTime.toISOString(),
      counts: this.tally.counts,
      digest: this.tally.digest,
    };
  }

  /**
   * Yields the file's bytes in chunks of about 64 KiB.
   * @throws the signal's reason when that aborts
   */
  async *chunks(
    organisations: AsyncIterable<readonly StoredDocument[]>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    let pending = '';
    for await (const text of this.texts(organisations)) {
      signal.throwIfAborted();
      pending += text;
      if (pending.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(pending);
      pending = '';
    }
    yield Buffer.from(pending);
  }

  private async *texts(organisations: AsyncIterable<readonly StoredDocument[]>): AsyncGenerator<string> {
    yield '{"orgs":[';
    let separator = '';
    for await (const documents of organisations) {
      for (const document of documents) {
        yield separator;
        yield* this.organisation(document);
        separator = ',';
      }
    }
    yield `],"manifest":${JSON.stringify(this.manifest)}}\n`;
  }

  private async *organisation(document: StoredDocument): AsyncGenerator<string> {
    const { body = '{}', orgId = '' } = document;
    const { orgState, ...leading } = parseBody(body);
    this.tally.addOrganisation();
    this.count(organisationSection, document);
    yield JSON.stringify(leading).slice(0, -1);
    const exported = sections.filter(({ keys }) => keys !== true || this.content.withKeys);
    const scans = exported.map((section) => () => this.scan(section, orgId));
    let index = 0;
    for await (const batches of readAhead(scans, SECTIONS_AHEAD)) {
      const section = exported[index++];
      if (section !== undefined) yield* this.section(section, batches);
    }
    yield orgState === undefined ? '}' : `,"orgState":${JSON.stringify(orgState)}}`;
  }

  private scan(section: Section, orgId: string): AsyncIterable<readonly StoredDocument[]> {
    return this.snapshot.scan({
      collection: section.collection,
      partition: sectionPartition(orgId, section),
      fields: this.selectFields(section),
    });
  }

  /** Selects credentials only if the request includes them. */
  private selectFields(section: Section): FieldName[] {
    const credentials = (section.credentials ?? []).filter(({ flag }) => this.content[flag]);
    const factor: FieldName[] = this.withFactor(section) ? ['otpEmail'] : [];
    return ['orgId', 'body', 'digest', ...credentials.map(({ field }) => field), ...factor];
  }

  private withFactor(section: Section): boolean {
    return section.otpEmail === true && this.content.withOtp;
  }

  private async *section(section: Section, batches: AsyncIterable<readonly StoredDocument[]>): AsyncGenerator<string> {
    const list = isList(section);
    const insertions = (section.credentials ?? []).map(({ path, field }) => ({ field, insert: textInserter(path) }));
    let opened = false;
    for await (const documents of batches) {
      if (documents.length === 0) continue;
      const text = documents.map((document) => this.record(section, document, insertions)).join(',');
      yield opened ? `,${text}` : `,"${section.name}":${list ? '[' : ''}${text}`;
      opened = true;
    }
    if (opened && list) yield ']';
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

  private count({ name }: Section, document: StoredDocument): void {
    const { orgId = '', digest = '', otpEmail = false } = document;
    const credentials: Credentials = document;
    this.tally.add({ section: name, orgId, digest, credentials, otpEmail });
  }
}

function parseBody(body: string): Record<string, unknown> {
  const json: unknown = JSON.parse(body);
  return isJsonObject(json) ? json : {};
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
