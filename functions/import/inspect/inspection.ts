import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { invalidRequest } from '../../../shared/errors/errors.ts';
import { duplicateKey } from '../../../shared/json/duplicateKeys.ts';
import { JsonError, parseJson } from '../../../shared/json/jsonScanner.ts';
import { type Manifest, ManifestTally, manifestSchema } from '../../../shared/organisation/exportFile.ts';
import { InvalidRecordError, type OrganisationRecord, readRecord } from '../../../shared/organisation/record.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { MAX_DOCUMENT_BYTES } from '../../../shared/store/store.ts';
import { type ExportFileItem, ExportFileReader } from '../source/exportFileReader.ts';
import { OrganisationDraft, type OrganisationHeader, withAdditions } from './organisationDraft.ts';
import { Violations } from './violations.ts';

/** What reading the whole document has told. */
export interface Inspection {
  readonly organisations: readonly OrganisationHeader[];
  /** Records by section, the organisations' own left out. */
  readonly counts: Readonly<Record<string, number>>;
  /** Whether the document had a manifest, and so was proved complete and unchanged by it. */
  readonly proved: boolean;
  /** SHA-256 of the document's bytes, base64url. */
  readonly digest: string;
}

/** The document's bytes, as often as they are asked for. */
export interface ExportFileSource {
  /** The request's field that holds the document; undefined where it is in a bucket. */
  readonly field?: string;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * Reads and checks the whole document before anything is written, and compares it with its manifest where it has one.
 * @throws IdentityError INVALID_ARGUMENT naming the first 100 faults, each with its path
 */
export async function inspect(source: ExportFileSource, signal: AbortSignal): Promise<Inspection> {
  const first = await readThrough(source, signal, undefined);
  const { drafts, manifest, digest } = first;
  const organisations = drafts.map((draft) => draft.header());
  if (manifest === undefined) return { organisations, counts: first.tally.counts, proved: false, digest };
  const tally = drafts.some(({ late }) => late) ? (await readThrough(source, signal, drafts)).tally : first.tally;
  const { counts } = tally;
  checkManifest(manifest, organisations, tally);
  return { organisations, counts, proved: true, digest };
}

interface Reading {
  readonly drafts: OrganisationDraft[];
  readonly tally: ManifestTally;
  manifest: Manifest | undefined;
  digest: string;
}

/** One reading. `known` are the drafts of an earlier one, for documents that name an organisation's id last. */
async function readThrough(
  source: ExportFileSource,
  signal: AbortSignal,
  known: readonly OrganisationDraft[] | undefined,
): Promise<Reading> {
  const reader = new ExportFileReader(() => true);
  const reading: Reading = { drafts: [], tally: new ManifestTally(), manifest: undefined, digest: '' };
  const digest = createHash('sha256');
  const violations = new Violations(source.field);
  try {
    for await (const chunk of source.open(signal)) {
      await setImmediate();
      signal.throwIfAborted();
      digest.update(chunk);
      for (const item of reader.push(chunk)) violations.during(item.path, () => takeItem(item, reading, known));
      if (violations.full) break;
    }
    if (!violations.full) reader.end();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    violations.add(error, error.path);
  }
  violations.throwIfAny();
  reading.digest = digest.digest('base64url');
  if (reader.organisations > 0) draftAt(reading.drafts, reader.organisations - 1);
  return reading;
}

function draftAt(drafts: OrganisationDraft[], index: number): OrganisationDraft {
  while (drafts.length <= index) drafts.push(new OrganisationDraft());
  const draft = drafts[index];
  if (draft === undefined) throw new Error(`no organisation ${index}`);
  return draft;
}

function takeItem(item: ExportFileItem, reading: Reading, known: readonly OrganisationDraft[] | undefined): void {
  const value = parseJson(item.text, item.path);
  const twice = duplicateKey(item.text, value);
  if (twice !== undefined) throw new JsonError(item.path, `duplicate field "${twice}"`);
  if (item.organisation === undefined) {
    reading.manifest = readManifest(value, item);
    return;
  }
  const draft = draftAt(reading.drafts, item.organisation);
  const section = findSection(item.name);
  if (section === undefined) draft.take(item.name, value);
  else takeRecord(section, value, draft, known?.[item.organisation] ?? draft, reading.tally);
}

function takeRecord(
  section: Section,
  value: unknown,
  draft: OrganisationDraft,
  { orgId, additions }: OrganisationDraft,
  tally: ManifestTally,
): void {
  draft.late ||= orgId === undefined;
  const record = readRecord(section, withAdditions(section, value, additions), orgId ?? '', true);
  checkSize(record);
  draft.note(record);
  tally.add({ ...record, section: section.name });
}

/** A record can be larger as it is stored than as it was sent: numbers of enums become their names. */
function checkSize({ body }: OrganisationRecord): void {
  if (Buffer.byteLength(body) <= MAX_DOCUMENT_BYTES) return;
  throw new InvalidRecordError([{ path: '', reason: `the record exceeds ${MAX_DOCUMENT_BYTES} bytes` }]);
}

function readManifest(value: unknown, { path }: ExportFileItem): Manifest {
  const result = manifestSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new JsonError([...path, ...(issue?.path ?? []).map(String)], issue?.message ?? 'invalid manifest');
}

function checkManifest(manifest: Manifest, organisations: readonly OrganisationHeader[], tally: ManifestTally): void {
  for (const { record } of organisations) {
    tally.addOrganisation();
    if (record !== undefined) tally.add({ ...record, section: record.section.name });
  }
  const names = new Set([...Object.keys(manifest.counts), ...Object.keys(tally.counts)]);
  const violations = [...names]
    .filter((name) => (manifest.counts[name] ?? 0) !== (tally.counts[name] ?? 0))
    .map((name) => ({
      field: `manifest.counts.${name}`,
      description: `count mismatch: ${manifest.counts[name] ?? 0} in the manifest, ${tally.counts[name] ?? 0} in the file`,
    }));
  if (violations.length === 0 && manifest.digest !== tally.digest) {
    violations.push({
      field: 'manifest.digest',
      description: 'digest mismatch: the records differ from the exported ones',
    });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
