import { fromJson, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { isRecord, type JsonRecord } from '../../shared/contract/jsonRecord.ts';
import { type Manifest, ManifestTally, manifestSchema } from '../../shared/contract/manifest.ts';
import { type OrganisationRecord, readRecord, recordOf } from '../../shared/contract/record.ts';
import { organisationSection, sections } from '../../shared/contract/sections.ts';
import { type FieldViolation, invalidRequest } from '../../shared/errors/errors.ts';
import { formatPath, JsonFault, type JsonPath, parseJson } from '../../shared/json/jsonScanner.ts';
import { type DocumentItem, DocumentReader } from './documentReader.ts';
import { type LoginPolicyAdditions, loginPolicyWith, withAddition } from './loginPolicyV1.ts';

/** What is known of an organisation of the document before any of its records is written. */
export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record; none where the document names only its id. */
  readonly record: OrganisationRecord | undefined;
  /** What a v1 document says of the login policy outside it. */
  readonly loginPolicyAdditions: LoginPolicyAdditions;
  /** Whether login names carry the organisation's domain; undefined where the document has no domain policy. */
  readonly loginNamesByDomain: boolean | undefined;
}

/** What reading the whole document has told. */
export interface Inspection {
  readonly organisations: readonly OrganisationHeader[];
  /** Records by section, the organisations' own left out. */
  readonly counts: Readonly<Record<string, number>>;
  /** Whether the document had a manifest, and so was proved complete and unchanged by it. */
  readonly proved: boolean;
}

/** The document's bytes, as often as they are asked for. */
export interface DocumentSource {
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

const MAX_VIOLATIONS = 100;
const sectionsByName = new Map(sections.map((section) => [section.name, section]));
// A v1 document's name for the domain policy (contract 2, 5.9).
const sectionNames: Readonly<Record<string, string>> = { iamPolicy: 'domainPolicy' };

/** The section that a field of the document holds; undefined for plain fields. */
export function sectionOf(name: string) {
  return sectionsByName.get(sectionNames[name] ?? name);
}

interface Draft {
  fields: JsonRecord;
  additions: LoginPolicyAdditions;
  loginNamesByDomain: boolean | undefined;
  /** Whether a record came before the organisation's id. */
  late: boolean;
}

/**
 * Reads and checks the whole document before anything is written, and compares it with its manifest where it has one.
 * @throws IdentityError INVALID_ARGUMENT naming the first 100 faults, each with its path
 */
export async function inspect(source: DocumentSource, signal: AbortSignal): Promise<Inspection> {
  const first = await readThrough(source, signal, undefined);
  const { drafts, manifest } = first;
  const organisations = drafts.map(headerOf);
  if (manifest === undefined) return { organisations, counts: first.tally.counts, proved: false };
  const tally = drafts.some(({ late }) => late) ? (await readThrough(source, signal, drafts)).tally : first.tally;
  checkManifest(manifest, organisations, tally);
  return { organisations, counts: tally.counts, proved: true };
}

/** One reading. `known` are the drafts of an earlier one, for documents that name an organisation's id last. */
async function readThrough(source: DocumentSource, signal: AbortSignal, known: readonly Draft[] | undefined) {
  const reader = new DocumentReader(() => true);
  const drafts: Draft[] = [];
  const tally = new ManifestTally();
  const violations: FieldViolation[] = [];
  let manifest: Manifest | undefined;
  const take = (item: DocumentItem) => {
    if (item.organisation === undefined) manifest = readManifest(item);
    else takeItem(item, draftAt(drafts, item.organisation), known?.[item.organisation], tally);
  };
  try {
    for await (const chunk of source.open(signal)) {
      signal.throwIfAborted();
      for (const item of reader.push(chunk)) collect(violations, item.path, () => take(item));
      if (violations.length >= MAX_VIOLATIONS) break;
    }
    if (violations.length < MAX_VIOLATIONS) reader.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    violations.push(violation(error, error.path));
  }
  if (violations.length > 0) throw invalidRequest(violations.slice(0, MAX_VIOLATIONS));
  if (reader.organisations > 0) draftAt(drafts, reader.organisations - 1);
  return { drafts, tally, manifest };
}

function readManifest(item: DocumentItem): Manifest {
  const result = manifestSchema.safeParse(parseJson(item.text, item.path));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new JsonFault([...item.path, ...(issue?.path ?? []).map(String)], issue?.message ?? 'not a manifest');
}

function draftAt(drafts: Draft[], index: number): Draft {
  while (drafts.length <= index) drafts.push({ fields: {}, additions: {}, loginNamesByDomain: undefined, late: false });
  const draft = drafts[index];
  if (draft === undefined) throw new Error(`no organisation ${index}`);
  return draft;
}

function collect(violations: FieldViolation[], path: JsonPath, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    violations.push(violation(error, error instanceof JsonFault ? error.path : path));
  }
}

function violation(error: Error, path: JsonPath): FieldViolation {
  return { field: formatPath(path), description: error.message };
}

function takeItem(item: DocumentItem, draft: Draft, known: Draft | undefined, tally: ManifestTally): void {
  const value = parseJson(item.text, item.path);
  const section = sectionOf(item.name);
  if (section === undefined) {
    takeField(draft, item.name, value);
    return;
  }
  const orgId = (known ?? draft).fields.orgId;
  draft.late ||= orgId === undefined;
  const raw = item.name === 'loginPolicy' ? loginPolicyWith(value, (known ?? draft).additions) : value;
  const record = readRecord(section, raw, typeof orgId === 'string' ? orgId : '');
  if (section.name === 'domainPolicy') draft.loginNamesByDomain = record.json.userLoginMustBeDomain === true;
  tally.add({ ...record, section: section.name });
}

function takeField(draft: Draft, name: string, value: unknown): void {
  const additions = withAddition(draft.additions, name, value);
  if (additions !== undefined) {
    draft.additions = additions;
    return;
  }
  const json = toJson(DataOrgSchema, fromJson(DataOrgSchema, { [name]: asJson(value) }, { ignoreUnknownFields: true }));
  if (isRecord(json)) Object.assign(draft.fields, json);
}

function asJson(value: unknown) {
  return value as Parameters<typeof fromJson>[1];
}

function headerOf({ fields, additions, loginNamesByDomain }: Draft): OrganisationHeader {
  const orgId = typeof fields.orgId === 'string' ? fields.orgId : '';
  const { org, orgState } = fields;
  const json: JsonRecord = { orgId, org, ...(orgState === undefined ? {} : { orgState }) };
  const record = isRecord(org) ? recordOf(organisationSection, json, orgId, false) : undefined;
  return { orgId, record, loginPolicyAdditions: additions, loginNamesByDomain };
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
      description: `the manifest counts ${manifest.counts[name] ?? 0}, the file holds ${tally.counts[name] ?? 0}`,
    }));
  if (violations.length === 0 && manifest.digest !== tally.digest) {
    violations.push({ field: 'manifest.digest', description: 'the records are not those that were exported' });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
