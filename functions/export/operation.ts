// The use case of an export: a snapshot written as an export file.

import { formatDuration } from '../../shared/duration.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { type ExportedManifest, type IgnoredField, ManifestTally } from '../../shared/exportFile/manifest.ts';
import { parseObject } from '../../shared/json/jsonObject.ts';
import { type Credential, IMPORTED_FROM, isList, type Section } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { InstanceDescription } from '../../shared/store/instance.ts';
import type { Snapshot, Store, StoredDocument } from '../../shared/store/store.ts';
import type { ExportRequestOptions } from './contract.ts';
import { type Entry, ExportedRecords } from './exportedRecords.ts';
import {
  openMergedReader,
  openSeparateReader,
  type RecordReader,
  type SectionFilter,
  type SectionRecords,
} from './recordReader.ts';
import { isReadSeparately, readOrganisations, selector } from './selection.ts';

/**
 * Opens a snapshot that can be read until the export's timeout.
 * @param timeoutMs undefined for an export that needs no longer than a snapshot lasts by itself
 * @throws IdentityError INVALID_ARGUMENT when the database does not keep a snapshot until the timeout
 */
export async function openSnapshot(
  store: Store,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { snapshotLifetimeMs = Number.POSITIVE_INFINITY } = store;
  if (timeoutMs === undefined || timeoutMs <= snapshotLifetimeMs) return store.snapshot();
  const snapshot = await store.lastingSnapshot?.(signal);
  if (snapshot !== undefined) return snapshot;
  const longest = formatDuration(snapshotLifetimeMs);
  const description = `must be at most ${longest}: the database keeps the export's snapshot no longer`;
  throw invalidRequest([{ field: 'timeout', description }]);
}

/** The selection and the form of an export. */
export interface ExportSelection extends ExportRequestOptions {
  /** The fields of the request that the service does not know, for the manifest. */
  readonly ignored?: readonly IgnoredField[];
  /** Whether the file has the organisations without their records, but with the instances that exported them. */
  readonly orgsOnly?: boolean;
}

/** Where an export comes from, for the manifest. */
interface ExportOrigin extends InstanceDescription {
  /** The caller, and its organisation; undefined without a token. */
  readonly exportedBy?: { readonly userId: string; readonly orgId: string };
}

/** An export in progress. Its manifest is complete once all bytes are read. */
export interface OrganisationExport {
  readonly manifest: ExportedManifest;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Exports organisations as an export file (specification 4.2, zitadel 2): the organisations, then the manifest. The
 * snapshot is read as the bytes are consumed, until the signal aborts.
 */
export function exportOrganisations(
  snapshot: Snapshot,
  selection: ExportSelection,
  origin: ExportOrigin,
  signal: AbortSignal,
): OrganisationExport {
  const writer = new ExportWriter(snapshot, selection, origin);
  return {
    bytes: writer.chunks(signal),
    get manifest() {
      return writer.manifest;
    },
  };
}

const EXPORT_CHUNK_BYTES = 64 * 1024;
/** The most bytes that UTF-8 has for a UTF-16 unit. */
const UNIT_BYTES = 3;

class ExportWriter {
  private readonly snapshot: Snapshot;
  private readonly selection: ExportSelection;
  private readonly origin: ExportOrigin;
  private readonly leftToDo: LeftToDo;
  private readonly records: ExportedRecords;
  private readonly tally = new ManifestTally();

  constructor(snapshot: Snapshot, selection: ExportSelection, origin: ExportOrigin) {
    this.snapshot = snapshot;
    this.selection = selection;
    this.origin = origin;
    this.leftToDo = new LeftToDo(selection);
    const { forZitadel } = selection;
    const isExported = selector(selection);
    this.records = new ExportedRecords(snapshot, { forZitadel, isExported, leftToDo: this.leftToDo });
  }

  get manifest(): ExportedManifest {
    const { withPasswords, withOtp, withKeys, forZitadel, ignored = [] } = this.selection;
    const { instance, defaultOrgId, instanceId, loginNamesByDomain, exportedBy } = this.origin;
    const { entries, omitted } = this.leftToDo;
    return {
      version: 1,
      instance,
      readTime: this.snapshot.readTime.toISOString(),
      counts: this.tally.counts,
      digest: this.tally.digest,
      ...(defaultOrgId === undefined ? {} : { defaultOrgId }),
      ...(instanceId === undefined || forZitadel ? {} : { instanceId }),
      ...(loginNamesByDomain ? { userLoginMustBeDomain: true } : {}),
      ...(exportedBy === undefined ? {} : { exportedBy }),
      secrets: { passwords: withPasswords, otp: withOtp, keys: withKeys },
      ignored: [...ignored],
      leftToDo: entries,
      ...(omitted === 0 ? {} : { leftToDoOmitted: omitted }),
    };
  }

  /** Yields the file's bytes in chunks of at most 64 KiB; a longer text has one of its own. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let chunk = Buffer.allocUnsafeSlow(EXPORT_CHUNK_BYTES);
    let length = 0;
    for await (const texts of this.texts()) {
      signal.throwIfAborted();
      for (const text of texts) {
        const mostBytes = text.length * UNIT_BYTES;
        if (length + mostBytes > chunk.length) {
          yield chunk.subarray(0, length);
          signal.throwIfAborted();
          chunk = Buffer.allocUnsafeSlow(Math.max(EXPORT_CHUNK_BYTES, mostBytes));
          length = 0;
        }
        // Each text is encoded by itself: V8 would copy them to join them, in two bytes a character where any needs two.
        length += chunk.write(text, length);
      }
    }
    yield chunk.subarray(0, length);
  }

  private async *texts(): AsyncGenerator<readonly string[]> {
    yield ['{"orgs":['];
    yield* this.organisations();
    const inSecond = new Set(this.records.sectionsOfSecondEntries);
    if (inSecond.size > 0) yield* this.secondEntries(inSecond);
    yield [`],"manifest":${JSON.stringify(this.manifest)}}\n`];
  }

  private async *organisations(): AsyncGenerator<readonly string[]> {
    const { orgsOnly = false } = this.selection;
    await using reader = this.openReader(() => !orgsOnly);
    let separator = '';
    for await (const documents of readOrganisations(this.snapshot, this.selection)) {
      for (const document of documents) {
        let before = separator;
        for await (const texts of this.organisation(document, reader)) {
          yield texts.length === 0 ? texts : [before, ...texts];
          if (texts.length > 0) [before, separator] = ['', ','];
        }
      }
    }
  }

  private async *secondEntries(sections: ReadonlySet<Section>): AsyncGenerator<readonly string[]> {
    await using reader = this.openReader((section) => sections.has(section));
    for await (const documents of readOrganisations(this.snapshot, this.selection))
      for (const { orgId = '' } of documents) {
        let before = ',';
        for await (const texts of this.secondEntry(orgId, reader)) {
          yield texts.length === 0 ? texts : [before, ...texts];
          if (texts.length > 0) before = '';
        }
      }
  }

  private openReader(isRead: SectionFilter): RecordReader {
    return isReadSeparately(this.selection)
      ? openSeparateReader(this.snapshot, this.selection, isRead)
      : openMergedReader(this.snapshot, this.selection, isRead);
  }

  /** Yields an entry without the organisation's own fields, unless it has no records. */
  private async *secondEntry(orgId: string, reader: RecordReader): AsyncGenerator<readonly string[]> {
    let opening = `{"orgId":${JSON.stringify(orgId)}`;
    for await (const records of reader.sections(orgId)) {
      for await (const texts of this.section(records, 'second')) {
        yield texts.length === 0 ? texts : [opening, ...texts];
        if (texts.length > 0) opening = '';
      }
    }
    if (opening === '') yield ['}'];
  }

  private async *organisation(document: StoredDocument, reader: RecordReader): AsyncGenerator<readonly string[]> {
    const { body = '{}', orgId = '', importedFrom } = document;
    const { orgState, ...leading } = parseObject(body);
    this.tally.addOrganisation();
    this.count(organisationSection, document);
    yield [JSON.stringify(leading).slice(0, -1)];
    for await (const records of reader.sections(orgId)) {
      yield* this.section(records, 'first');
    }
    if (importedFrom !== undefined && this.selection.orgsOnly === true)
      yield [`,"${IMPORTED_FROM}":${JSON.stringify(importedFrom)}`];
    yield [orgState === undefined ? '}' : `,"orgState":${JSON.stringify(orgState)}}`];
  }

  /** Yields a section's records of one entry, batch by batch, also those without any, so that an abort is noticed. */
  private async *section({ section, batches }: SectionRecords, entry: Entry): AsyncGenerator<readonly string[]> {
    const list = isList(section);
    const insertions = (section.credentials ?? []).map(({ path, field }) => ({ field, insert: textInserter(path) }));
    let before = `,"${section.name}":${list ? '[' : ''}`;
    for await (const stored of batches) {
      const documents = await this.records.convert(section, stored, entry);
      const texts: string[] = [];
      for (const document of documents) {
        const text = `${before}${recordText(document, insertions)}`;
        this.count(section, document);
        texts.push(text);
        before = ',';
      }
      yield texts;
    }
    if (before === ',' && list) yield [']'];
  }

  private count(section: Section, document: StoredDocument): void {
    const { orgId = '', digest = '', otpEmail = false } = document;
    this.tally.add({ section: section.name, orgId, digest, credentials: document, otpEmail });
    this.leftToDo.addRecord(section, document);
  }
}

type TextInserter = (json: string, text: string) => string;

/** A stored credential and its inserter into a record's JSON. */
interface CredentialInsertion {
  readonly field: Credential['field'];
  readonly insert: TextInserter;
}

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
