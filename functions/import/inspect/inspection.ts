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

/** The result of validating an export file. */
export interface Inspection {
  readonly organisations: readonly OrganisationHeader[];
  /** Numbers of records by section, without the organisations' own. */
  readonly counts: Readonly<Record<string, number>>;
  /** Whether the file had a manifest, which proved it complete and unchanged. */
  readonly proved: boolean;
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
}

/** An export file that can be read repeatedly. */
export interface ExportFileSource {
  /** The request's field that holds the file; undefined for a file in a bucket. */
  readonly field?: string;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * Validates a whole export file before anything is written, and compares it with its manifest if it has one.
 * @throws IdentityError INVALID_ARGUMENT naming the first 100 issues, each with its path
 */
export async function inspect(source: ExportFileSource, signal: AbortSignal): Promise<Inspection> {
  const first = await readFile(source, signal, undefined);
  const { drafts, manifest, digest } = first;
  const organisations = drafts.map((draft) => draft.toHeader());
  if (manifest === undefined) return { organisations, counts: first.tally.counts, proved: false, digest };
  const tally = drafts.some(({ hasEarlyRecords }) => hasEarlyRecords)
    ? (await readFile(source, signal, drafts)).tally
    : first.tally;
  const { counts } = tally;
  checkManifest(manifest, organisations, tally);
  return { organisations, counts, proved: true, digest };
}

interface Pass {
  readonly drafts: OrganisationDraft[];
  readonly tally: ManifestTally;
  manifest: Manifest | undefined;
  digest: string;
}

/**
 * Reads an export file once.
 * @param knownDrafts the drafts of an earlier pass, for files with records before their organisation's id
 */
async function readFile(
  source: ExportFileSource,
  signal: AbortSignal,
  knownDrafts: readonly OrganisationDraft[] | undefined,
): Promise<Pass> {
  const reader = new ExportFileReader(() => true);
  const pass: Pass = { drafts: [], tally: new ManifestTally(), manifest: undefined, digest: '' };
  const digest = createHash('sha256');
  const violations = new Violations(source.field);
  try {
    for await (const chunk of source.open(signal)) {
      await setImmediate();
      signal.throwIfAborted();
      digest.update(chunk);
      for (const item of reader.push(chunk)) violations.capture(item.path, () => addItem(item, pass, knownDrafts));
      if (violations.full) break;
    }
    if (!violations.full) reader.end();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    violations.add(error, error.path);
  }
  violations.throwIfAny();
  pass.digest = digest.digest('base64url');
  if (reader.organisations > 0) draftAt(pass.drafts, reader.organisations - 1);
  return pass;
}

function draftAt(drafts: OrganisationDraft[], index: number): OrganisationDraft {
  while (drafts.length <= index) drafts.push(new OrganisationDraft());
  const draft = drafts[index];
  if (draft === undefined) throw new Error(`no organisation ${index}`);
  return draft;
}

function addItem(item: ExportFileItem, pass: Pass, knownDrafts: readonly OrganisationDraft[] | undefined): void {
  const value = parseJson(item.text, item.path);
  const duplicate = duplicateKey(item.text, value);
  if (duplicate !== undefined) throw new JsonError(item.path, `duplicate field "${duplicate}"`);
  if (item.organisation === undefined) {
    pass.manifest = readManifest(value, item);
    return;
  }
  const draft = draftAt(pass.drafts, item.organisation);
  const section = findSection(item.name);
  if (section === undefined) draft.addField(item.name, value);
  else addRecord(section, value, draft, knownDrafts?.[item.organisation] ?? draft, pass.tally);
}

function addRecord(
  section: Section,
  value: unknown,
  draft: OrganisationDraft,
  { orgId, additions }: OrganisationDraft,
  tally: ManifestTally,
): void {
  draft.hasEarlyRecords ||= orgId === undefined;
  const record = readRecord(section, withAdditions(section, value, additions), orgId ?? '', true);
  checkSize(record);
  draft.observe(record);
  tally.add({ ...record, section: section.name });
}

/** Checks the stored size, which can exceed the sent size: enum numbers become names. */
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
