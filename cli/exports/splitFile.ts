// Splitting an export file into parts that can be imported one after the other.

import { once } from '../../shared/async.ts';
import { inspect } from '../../shared/exportFile/inspection.ts';
import type { Manifest } from '../../shared/exportFile/manifest.ts';
import { type ExportFileItem, ExportFileReader, type FieldFilter } from '../../shared/exportFile/reader.ts';
import { isList } from '../../shared/organisation/section.ts';
import { findSection, sections } from '../../shared/organisation/sections.ts';

/** A part of an export file, which is a valid export file itself. */
export interface FilePart {
  readonly bytes: Uint8Array;
  readonly orgIds: ReadonlySet<string>;
}

interface Splitting {
  readonly maxBytes: number;
  /** Whether to include an organisation. */
  readonly isSelected: (orgId: string) => boolean;
  /** The manifest of the complete file, if it has one. */
  readonly manifest: Manifest | undefined;
  /** Whether to leave a record out of the parts. */
  readonly leavesOut: (item: ExportFileItem, orgId: string) => boolean;
  /** Creates the error for an organisation whose settings do not fit into a part. */
  readonly tooLarge: (orgId: string) => Error;
}

/** Reads the file from its beginning. */
type Read = () => AsyncIterable<Uint8Array>;

/** The fields of one step and organisation, which are in the same part, or an element of a long list. */
interface Unit {
  readonly entry: number;
  readonly orgId: string;
  readonly values: readonly UnitValue[];
}

interface UnitValue {
  readonly field: string;
  /** Whether it is an element of the field's list. */
  readonly isElement: boolean;
  readonly text: string;
}

/**
 * Splits an export file into parts that can be imported one after the other, with the same result as the file. The records
 * of a part refer to records of this part or earlier ones, as the phases of an import do. Omits fields that are unknown to
 * this service.
 * @param read reads the file, once for each step
 * @throws JsonError; the error of `tooLarge`
 */
export async function* splitFile(read: Read, splitting: Splitting): AsyncGenerator<FilePart> {
  const orgIds = await readOrgIds(read);
  let part = new PartWriter();
  for (const step of steps) {
    for await (const unit of readUnits(read, step, orgIds, splitting)) {
      if (!splitting.isSelected(unit.orgId)) continue;
      if (part.add(unit, splitting.maxBytes)) continue;
      if (!part.isEmpty) yield await finishPart(part, splitting);
      part = new PartWriter();
      if (!part.add(unit, splitting.maxBytes)) throw splitting.tooLarge(unit.orgId);
    }
  }
  if (!part.isEmpty) yield await finishPart(part, splitting);
}

/** Finds the ids of a file's entries, which may follow their records. */
async function readOrgIds(read: Read): Promise<ReadonlyMap<number, string>> {
  const orgIds = new Map<number, string>();
  for await (const items of readItems(read, (name) => name === 'orgId')) {
    for (const { organisation: entry, value } of items) if (entry !== undefined) orgIds.set(entry, String(value));
  }
  return orgIds;
}

type Step = 'settings' | 'policies' | 2 | 3 | 4;

/** The order in which the records of all organisations are sent, as in the phases of an import. */
const steps: readonly Step[] = ['settings', 'policies', 2, 3, 4];

const ownerOfList = new Map(
  sections.flatMap((section) => Object.keys(section.v1?.lists ?? {}).map((name) => [name, section])),
);

/** Returns the step of a field. */
function partStepOf(name: string): Step {
  const owner = ownerOfList.get(name);
  const section = owner ?? findSection(name);
  if (section === undefined || section.phase === 1) return 'settings';
  return owner !== undefined || !isList(section) ? 'policies' : section.phase;
}

/** Yields the units of a step, in the order of the file. */
async function* readUnits(
  read: Read,
  step: Step,
  orgIds: ReadonlyMap<number, string>,
  { isSelected, leavesOut }: Splitting,
): AsyncGenerator<Unit> {
  const isWhole = step === 'settings' || step === 'policies';
  let whole: (Unit & { readonly values: UnitValue[] }) | undefined;
  for await (const items of readItems(read, (name) => partStepOf(name) === step)) {
    for (const item of items) {
      const { organisation: entry, name, path, text } = item;
      if (entry === undefined) continue;
      const orgId = orgIds.get(entry) ?? '';
      if (isSelected(orgId) && leavesOut(item, orgId)) continue;
      // Each entry begins with the id.
      const values = name === 'orgId' ? [] : [{ field: name, isElement: path.length === 4, text }];
      if (whole?.entry === entry) {
        whole.values.push(...values);
        continue;
      }
      if (whole !== undefined) yield whole;
      const unit = { entry, orgId, values };
      if (isWhole) whole = unit;
      else yield unit;
    }
  }
  if (whole !== undefined) yield whole;
}

/** Yields the wanted fields of a file's organisations, and its manifest. */
async function* readItems(read: Read, isWanted: FieldFilter): AsyncGenerator<ExportFileItem[]> {
  const reader = new ExportFileReader(isWanted);
  for await (const chunk of read()) yield reader.push(chunk);
  reader.end();
}

/** The space for the manifest and the enclosing object of a part. */
const PART_OVERHEAD_BYTES = 10_000;

/** Writes the entries of a part. */
class PartWriter {
  private readonly pieces: string[] = [];
  private bytes = 0;
  readonly orgIds = new Set<string>();
  private entry: number | undefined;
  /** The list of the last value, if it is an element. */
  private list: string | undefined;

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  /** Adds a unit, unless it does not fit. */
  add({ entry, orgId, values }: Unit, maxBytes: number): boolean {
    let { list } = this;
    let piece = '';
    if (entry !== this.entry) {
      piece = `${this.entryEnd}${this.isEmpty ? '' : ','}{"orgId":${JSON.stringify(orgId)}`;
      list = undefined;
    }
    for (const { field, isElement, text } of values) {
      const opening = `${list === undefined ? '' : ']'},${JSON.stringify(field)}:${isElement ? '[' : ''}`;
      piece += `${isElement && field === list ? ',' : opening}${text}`;
      list = isElement ? field : undefined;
    }
    const bytes = this.bytes + Buffer.byteLength(piece);
    if (bytes + Math.min(PART_OVERHEAD_BYTES, maxBytes / 4) > maxBytes) return false;
    this.pieces.push(piece);
    [this.bytes, this.entry, this.list] = [bytes, entry, list];
    this.orgIds.add(orgId);
    return true;
  }

  /** Returns the part without its last brace. */
  get text(): string {
    return `{"orgs":[${this.pieces.join('')}${this.entryEnd}]`;
  }

  private get entryEnd(): string {
    return this.isEmpty ? '' : `${this.list === undefined ? '' : ']'}}`;
  }
}

/** Adds the manifest of a part, so that its import is verified. */
async function finishPart(part: PartWriter, { manifest }: Splitting): Promise<FilePart> {
  const { text } = part;
  const bytes = Buffer.from(`${text}}`);
  const { tally } = await inspect({ open: () => once(bytes) }, new AbortController().signal);
  const { instance = '', readTime = '', secrets } = manifest ?? {};
  const own = JSON.stringify({ version: 1, instance, readTime, ...tally, secrets });
  return { bytes: Buffer.from(`${text},"manifest":${own}}`), orgIds: part.orgIds };
}
