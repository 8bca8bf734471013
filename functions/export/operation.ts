import { defined, withoutEmpty } from '../../shared/defined.ts';
import { formatDuration } from '../../shared/duration.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { FileWriter } from '../../shared/exportFile/fileWriter.ts';
import { LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { type ExportedManifest, type IgnoredField, ManifestTally } from '../../shared/exportFile/manifest.ts';
import { parseObject } from '../../shared/json/jsonObject.ts';
import { organisationSection, sections } from '../../shared/organisation/allSections.ts';
import { IMPORTED_FROM, isList, mayHaveOtpEmail, type Section } from '../../shared/organisation/sections/section.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { InstanceDescription } from '../../shared/store/instance.ts';
import type { Snapshot, Store, StoredDocument } from '../../shared/store/store.ts';
import type { ExportRequestOptions } from './contract.ts';
import { mergeByOrganisation } from './exportEvents.ts';
import { ExportedRecords } from './exportedRecords.ts';
import { recordTexts } from './recordText.ts';
import { selectOrganisations, selector } from './selectedOrganisations.ts';

/**
 * Opens a snapshot that can be read until the export's timeout.
 * @param timeoutMs the export's timeout in milliseconds; undefined if the export has no timeout
 * @throws IdentityError INVALID_ARGUMENT if the database deletes the snapshot before the timeout
 */
export async function openSnapshot(store: Store, timeoutMs: number | undefined): Promise<Snapshot> {
  const { snapshotMs } = store.advice();
  if (timeoutMs === undefined || timeoutMs <= snapshotMs) return store.snapshot();
  const longest = formatDuration(snapshotMs);
  const description = `must be at most ${longest}, because the database then removes the snapshot of the export`;
  throw invalidRequest([{ field: 'timeout', description }]);
}

export interface ExportSelection extends ExportRequestOptions {
  readonly ignored?: readonly IgnoredField[];
  readonly orgsOnly?: boolean;
}

interface ExportOrigin extends InstanceDescription {
  /** Undefined if the caller used no token. */
  readonly exportedBy?: { readonly userId: string; readonly orgId: string };
}

/** An export in progress. Its manifest is complete once all bytes are read. */
export interface OrganisationExport {
  readonly manifest: ExportedManifest;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Exports organisations as an export file, which ends with the manifest (specification 4.2; see zitadel 2). Reads
 * the snapshot while the caller consumes the bytes, until the signal aborts.
 */
export function exportOrganisations(
  snapshot: Snapshot,
  selection: ExportSelection,
  origin: ExportOrigin,
  signal: AbortSignal,
): OrganisationExport {
  const exporter = new Exporter(snapshot, selection, origin);
  return {
    bytes: exporter.chunks(signal),
    get manifest() {
      return exporter.manifest;
    },
  };
}

const EXPORT_CHUNK_BYTES = 64 * 1024;
/** The maximum number of UTF-8 bytes for a UTF-16 code unit. */
const UNIT_BYTES = 3;

class Exporter {
  private readonly snapshot: Snapshot;
  private readonly selection: ExportSelection;
  private readonly origin: ExportOrigin;
  private readonly leftToDo: LeftToDo;
  private readonly records: ExportedRecords;
  private readonly writer = new FileWriter();
  private readonly tally = new ManifestTally();
  /** The JSON text that completes the entry of the current organisation. */
  private ending = '';
  /** The sections whose records the export has read completely. */
  private read: readonly Section[] = [];

  constructor(snapshot: Snapshot, selection: ExportSelection, origin: ExportOrigin) {
    this.snapshot = snapshot;
    this.selection = selection;
    this.origin = origin;
    this.leftToDo = new LeftToDo({ ...selection, forZitadel: false }, 'http');
    this.records = new ExportedRecords(snapshot, { isExported: selector(selection), leftToDo: this.leftToDo });
  }

  get manifest(): ExportedManifest {
    const { withPasswords, withOtp, withKeys, ignored = [] } = this.selection;
    const { instance, defaultOrgId, instanceId, loginNamesByDomain, exportedBy } = this.origin;
    const { entries, omitted } = this.leftToDo;
    return {
      version: 1,
      instance,
      readTime: this.snapshot.readTime.toISOString(),
      counts: this.tally.counts,
      digest: this.tally.digest,
      ...defined({ defaultOrgId, instanceId }),
      ...withoutEmpty({ userLoginMustBeDomain: loginNamesByDomain }),
      ...defined({ exportedBy }),
      sections: this.read.map(({ name }) => name),
      secrets: { passwords: withPasswords, otp: withOtp, keys: withKeys },
      ignored: [...ignored],
      leftToDo: entries,
      ...withoutEmpty({ leftToDoOmitted: omitted }),
    };
  }

  /** Yields the file's bytes in chunks of at most 64 KiB. Only a text of more than 64 KiB is a longer chunk. */
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
        // Encode each text separately. If the texts were joined first, V8 would copy them, and use two bytes per
        // character if any character needs two.
        length += chunk.write(text, length);
      }
    }
    yield chunk.subarray(0, length);
  }

  private async *texts(): AsyncGenerator<readonly string[]> {
    const exported = this.selection.orgsOnly === true ? [] : exportedSections(this.selection);
    yield* this.entries(exported);
    this.read = exported;
    this.writer.finish(this.manifest);
    yield this.writer.take();
  }

  private async *entries(exported: readonly Section[]): AsyncGenerator<readonly string[]> {
    const { organisations, scan } = await selectOrganisations(this.snapshot, this.selection);
    const scans = exported.map((section) => ({
      section,
      batches: scan(section, selectFields(section, this.selection)),
    }));
    for await (const events of mergeByOrganisation(organisations(), scans)) {
      for (const event of events) {
        if (event.kind === 'organisation') this.begin(event.document);
        else if (event.kind === 'end') this.writer.end(this.ending);
        else await this.add(event.section, event.documents);
      }
      yield this.writer.take();
    }
  }

  private begin(document: StoredDocument): void {
    const { body = '{}', importedFrom } = document;
    const { orgState, ...leading } = parseObject(body);
    this.writer.begin(JSON.stringify(leading).slice(0, -1));
    const origin = this.selection.orgsOnly === true ? importedFrom : undefined;
    const last = Object.entries({ [IMPORTED_FROM]: origin, orgState }).filter(([, value]) => value !== undefined);
    this.ending = last.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('');
    this.tally.addOrganisation();
    this.count(organisationSection, document);
  }

  private async add(section: Section, stored: readonly StoredDocument[]): Promise<void> {
    const documents = await this.records.convert(section, stored);
    if (documents.length === 0) return;
    for (const document of documents) this.count(section, document);
    this.writer.add({ name: section.name, isList: isList(section) }, recordTexts(section, documents));
  }

  private count(section: Section, document: StoredDocument): void {
    const { orgId = '', digest = '', otpEmail = false } = document;
    this.tally.add({ section, orgId, digest, credentials: document, otpEmail });
    this.leftToDo.addRecord(section, document);
  }
}

function exportedSections({ withKeys }: ExportSelection): readonly Section[] {
  return sections.filter(({ keys }) => keys !== true || withKeys);
}

function selectFields(section: Section, selection: ExportSelection): readonly FieldName[] {
  const credentials = (section.credentials ?? []).filter(({ flag }) => selection[flag]);
  const factor: FieldName[] = mayHaveOtpEmail(section) && selection.withOtp ? ['otpEmail'] : [];
  return ['orgId', 'body', 'digest', 'state', ...credentials.map(({ field }) => field), ...factor];
}
