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

/** What of the records goes into an export (specification 2.4). */
export interface ExportContent {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
}

/** Where a credential that was read goes in a record's JSON. */
interface CredentialPlace {
  readonly field: Credential['field'];
  readonly insert: TextInserter;
}

/** Sections whose first records are asked for while an earlier one is written: most are small, and each is a round trip. */
const SECTIONS_AHEAD = 8;
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Writes the organisation document (zitadel 2) of some organisations, followed by its manifest, reading from one
 * snapshot as it is consumed. Ends with the signal's reason when that aborts.
 */
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

  /** What the document holds; complete once `chunks` has ended. */
  get manifest(): Manifest {
    return {
      version: 1,
      instance: this.instance,
      readTime: this.snapshot.readTime.toISOString(),
      counts: this.tally.counts,
      digest: this.tally.digest,
    };
  }

  /** The document's bytes in pieces of some 64 KiB. */
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
    const { orgState, ...first } = parseBody(body);
    this.tally.addOrganisation();
    this.count(organisationSection, document);
    yield JSON.stringify(first).slice(0, -1);
    const carried = sections.filter(({ keys }) => keys !== true || this.content.withKeys);
    const scans = carried.map((section) => () => this.scan(section, orgId));
    let index = 0;
    for await (const section of readAhead(scans, SECTIONS_AHEAD)) {
      const row = carried[index++];
      if (row !== undefined) yield* this.section(row, section);
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

  /** Credentials are read only when they are asked for. */
  private selectFields(section: Section): FieldName[] {
    const credentials = (section.credentials ?? []).filter(({ flag }) => this.content[flag]);
    const factor: FieldName[] = this.withFactor(section) ? ['otpEmail'] : [];
    return ['orgId', 'body', 'digest', ...credentials.map(({ field }) => field), ...factor];
  }

  private withFactor(section: Section): boolean {
    return section.otpEmail === true && this.content.withOtp;
  }

  private async *section(section: Section, arrays: AsyncIterable<readonly StoredDocument[]>): AsyncGenerator<string> {
    const list = isList(section);
    const places = (section.credentials ?? []).map(({ path, field }) => ({ field, insert: textInserter(path) }));
    let opened = false;
    for await (const documents of arrays) {
      if (documents.length === 0) continue;
      const text = documents.map((document) => this.record(section, document, places)).join(',');
      yield opened ? `,${text}` : `,"${section.name}":${list ? '[' : ''}${text}`;
      opened = true;
    }
    if (opened && list) yield ']';
  }

  private record(section: Section, document: StoredDocument, places: readonly CredentialPlace[]): string {
    this.count(section, document);
    const { body = '{}', otpEmail } = document;
    let json = otpEmail === true ? `{"otpEmail":true,${body.slice(1)}` : body;
    for (const { field, insert } of places) {
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

/** Puts a text into the JSON of a record. */
export type TextInserter = (json: string, text: string) => string;

/**
 * Makes what puts a text at `path` (`user.otpCode`) of a record that has an object under the path's first name, and
 * nothing at the path itself. The record is not parsed, which would take longer than reading it from the database: in
 * what JSON.stringify writes, `"user":{` is nowhere but where that object begins, since quotes inside a string are escaped.
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
