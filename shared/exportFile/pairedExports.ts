// Reads two exports of this service at once. Compares most records as bytes, and does not decode the equal ones.

import { addCounts, type Counts, increase } from '../collections/counts.ts';
import { invalidRequest } from '../errors/errors.ts';
import { JsonError } from '../json/jsonError.ts';
import { parseHeld } from '../json/splitter.ts';
import { findSection, sections } from '../organisation/allSections.ts';
import { nestedRecords } from '../organisation/record.ts';
import { isList, type Section } from '../organisation/sections/section.ts';
import { chunksInTurns } from '../turns.ts';
import { addItem, createPass, draftAt, type PassOptions } from './filePass.ts';
import {
  checkManifest,
  type Inspection,
  type RecordVisitor,
  requireManifest,
  tallyOrganisation,
} from './inspection.ts';
import { statedContent } from './manifest.ts';
import { type ExportFileItem, ExportFileReader } from './reader.ts';

export interface PairedExport {
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
  readonly onItems: NonNullable<PassOptions['onItems']>;
  readonly isSelected: (orgId: string) => boolean;
  /** Receives a selected record if the other export contains no equal record. */
  readonly visitor: Pick<RecordVisitor, 'add'>;
}

export type PairedInspection = Pick<Inspection, 'organisations' | 'manifest' | 'stated' | 'tally'>;

/** A record that has the same JSON bytes in both exports. */
export interface EqualRecord {
  readonly section: Section;
  readonly orgId: string;
  /** The JSON of the record. Each character of this string stands for one byte. */
  readonly text: string;
  json(): unknown;
}

export interface Pairing {
  /**
   * Returns whether to compare the bytes of a section's records. If the function returns false for a section, all its
   * records are decoded.
   */
  readonly isPaired: (section: Section) => boolean;
  readonly onEqual: (record: EqualRecord) => void;
}

/**
 * The maximum size in bytes of the records of one export that are kept until an equal record of the other export
 * arrives.
 */
const MAX_WAITING_BYTES = 8_000_000;

/**
 * Reads two exports at once, and checks them by their manifests. Memory does not grow with the exports.
 * @throws JsonError, or IdentityError INVALID_ARGUMENT, if an export is damaged or is not an export of this service
 */
export async function readPaired(
  exports: readonly [PairedExport, PairedExport],
  pairing: Pairing,
  signal: AbortSignal,
): Promise<readonly [PairedInspection, PairedInspection]> {
  const equal: Counts = {};
  const paired = {
    sections: new Set(sections.filter((section) => isList(section) && pairing.isPaired(section))),
    onEqual: (record: EqualRecord) => {
      increase(equal, record.section.name);
      pairing.onEqual(record);
    },
  };
  // Aborted if reading one export fails. This stops the reading of the other export.
  const stop = new AbortController();
  const open = (source: PairedExport) => new PairedSide(source, paired, AbortSignal.any([signal, stop.signal]));
  const [first, second] = [open(exports[0]), open(exports[1])];
  try {
    for (;;) {
      // Read the next chunk of the export that has fewer bytes of waiting records. So the records of both exports
      // arrive at about the same time, and few must be kept.
      const isSecondBehind = second.waitingBytes < first.waitingBytes;
      const side = first.isOver || (isSecondBehind && !second.isOver) ? second : first;
      if (side.isOver) break;
      signal.throwIfAborted();
      await side.read(side === first ? second : first);
    }
    const inspections = [first.finish(equal), second.finish(equal)] as const;
    // Equal records were not decoded, so their hashes are unknown. For each export, subtract the hashes of its decoded
    // records from the digest in its manifest. The result is the sum of the hashes of the equal records, so both
    // results must be the same.
    if (first.undecoded !== second.undecoded)
      throw invalidRequest([{ field: 'manifest', description: 'digest mismatch between the two exports' }]);
    return inspections;
  } finally {
    stop.abort();
    await Promise.all([first.close(), second.close()]);
  }
}

interface PairedSections extends Pick<Pairing, 'onEqual'> {
  readonly sections: ReadonlySet<Section>;
}

class PairedSide {
  private readonly source: PairedExport;
  private readonly paired: PairedSections;
  private readonly reader = new ExportFileReader(() => true, { holdsRecords: true });
  private readonly pass = createPass();
  private readonly chunks: AsyncGenerator<Uint8Array>;
  private next: Promise<IteratorResult<Uint8Array>>;
  /** The records for which no equal record of the other export has arrived, by their text, in the order of the file. */
  private readonly waiting = new Map<string, ExportFileItem>();
  waitingBytes = 0;
  isOver = false;

  constructor(source: PairedExport, paired: PairedSections, signal: AbortSignal) {
    this.source = source;
    this.paired = paired;
    this.chunks = chunksInTurns(source.open(signal));
    this.next = this.request();
  }

  async read(other: PairedSide): Promise<void> {
    const { done, value } = await this.next;
    if (done === true) {
      this.reader.end();
      this.isOver = true;
      return;
    }
    const items = this.reader.push(value);
    this.source.onItems(items);
    for (const item of items) this.take(item, other);
    if (this.waitingBytes > MAX_WAITING_BYTES) this.decode(MAX_WAITING_BYTES / 2);
    this.next = this.request();
  }

  /**
   * Decodes the waiting records, and compares the counts with the manifest.
   * @param equal the numbers of equal records, which were not decoded
   */
  finish(equal: Counts): PairedInspection {
    const { pass, source } = this;
    this.decode();
    if (this.reader.organisations > 0) draftAt(pass, this.reader.organisations - 1);
    const { drafts, tally } = pass;
    const manifest = requireManifest(pass.manifest);
    const headers = drafts.map((draft) => draft.toHeader());
    for (const { record } of headers) tallyOrganisation(record, tally);
    const inspected = { counts: addCounts(tally.counts, equal), digest: manifest.digest };
    checkManifest(manifest, inspected);
    const organisations = headers.filter(({ orgId }) => source.isSelected(orgId));
    for (const { record } of organisations) if (record !== undefined) source.visitor.add(record);
    return { organisations, manifest, stated: statedContent(manifest), tally: inspected };
  }

  /** The sum of the hashes of the records that were not decoded. */
  get undecoded(): string {
    return this.pass.tally.restOf(this.pass.manifest?.digest ?? '');
  }

  async close(): Promise<void> {
    await this.chunks.return(undefined);
  }

  /** Requests the next chunk early, so that it can arrive while the other export is read. */
  private request(): Promise<IteratorResult<Uint8Array>> {
    const next = this.chunks.next();
    // Ignore an error here: `read` throws it, unless the other export fails first.
    next.catch(() => undefined);
    return next;
  }

  private take(item: ExportFileItem, other: PairedSide): void {
    const section = findSection(item.name);
    if (item.organisation === undefined || section === undefined) {
      addItem(item, this.pass, this.addRecord);
      return;
    }
    const { orgId } = draftAt(this.pass, item.organisation);
    if (orgId === undefined) throw new JsonError(item.path, 'the record precedes the id of its organisation');
    const isPaired = isHeld(item) && this.isPaired(section, item);
    const key = isPaired ? `${item.name}${JSON.stringify(orgId)}${item.text}` : item.path.join();
    if (isPaired && this.source.isSelected(orgId) && other.remove(key))
      this.paired.onEqual({ section, orgId, text: item.text, json: () => parseHeld(item).value });
    else this.keep(key, item);
  }

  /**
   * True if a record can be compared by its bytes. A record with inner records must be decoded, because the inner
   * records are counted too.
   */
  private isPaired(section: Section, { text }: ExportFileItem): boolean {
    const nested = section.nested?.list.split('.').at(-1);
    return this.paired.sections.has(section) && (nested === undefined || !text.includes(`"${nested}"`));
  }

  private keep(key: string, item: ExportFileItem): void {
    if (this.waiting.has(key)) throw new JsonError(item.path, 'the export repeats a record');
    this.waiting.set(key, item);
    this.waitingBytes += item.text.length;
  }

  private remove(key: string): boolean {
    const item = this.waiting.get(key);
    if (item === undefined) return false;
    this.waiting.delete(key);
    this.waitingBytes -= item.text.length;
    return true;
  }

  /**
   * Decodes the oldest waiting records, until the remaining waiting records have at most `bytes` bytes. If `bytes` is
   * absent, decodes all waiting records.
   */
  private decode(bytes = -1): void {
    for (const [key, item] of this.waiting) {
      if (this.waitingBytes <= bytes) return;
      this.remove(key);
      addItem(isHeld(item) ? { ...item, ...parseHeld(item) } : item, this.pass, this.addRecord);
    }
  }

  private readonly addRecord: PassOptions['onRecord'] = (record, path, whole) => {
    if (!this.source.isSelected(record.orgId)) return;
    this.source.visitor.add(whole, undefined, path);
    for (const nested of nestedRecords(record, path)) this.source.visitor.add(nested.record, whole);
  };
}

function isHeld({ value, isTooLarge }: ExportFileItem): boolean {
  return value === undefined && isTooLarge === undefined;
}
