import { exportFileLimits, type Tally } from '../../shared/exportFile/manifest.ts';
import { missingKinds, type SecretSelection } from '../../shared/exportFile/secretSelection.ts';
import { isJsonObject, type JsonObject, parseObject, textAt, textsAt } from '../../shared/json/jsonObject.ts';
import { type JsonPath, JsonScanner, parseJson, type ScannedValue } from '../../shared/json/jsonScanner.ts';
import { type OrganisationRecord, organisationFields, readRecord } from '../../shared/organisation/record.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import { keepSecrets } from './secretFilter.ts';

/** What to leave out of an export file; by default nothing. */
export interface ExportFilter {
  readonly keeps?: ((orgId: string) => boolean) | undefined;
  /** The user who is left out with everything that refers to it. */
  readonly withoutUser?: string | undefined;
  /** The secrets to keep. */
  readonly secrets?: SecretSelection | undefined;
}

const sectionsByField = new Map<string, Section>(
  [...organisationFields].flatMap(([field, { name }]) => {
    const section = sections.find((one) => one.name === name);
    return section === undefined ? [] : [[field, section] as const];
  }),
);

type Read = () => AsyncIterable<Uint8Array>;

/**
 * Yields an export file with what a filter keeps, without its manifest.
 * @param read reads the file; it is read twice, unless the filter is for secrets only
 * @throws JsonError
 */
export async function* filterExport(read: Read, filter: ExportFilter): AsyncGenerator<Uint8Array> {
  const { keeps = () => true, withoutUser, secrets } = filter;
  const isWhole = filter.keeps === undefined && withoutUser === undefined;
  const orgIds = isWhole ? new Map<number, string>() : await readOrgIds(read);
  const writer = new OrganisationWriter();
  yield Buffer.from('{"orgs":[');
  for await (const values of scan(read)) {
    const texts = values.flatMap(({ path: [, index = 0, field = ''], path, text }) => {
      const orgId = orgIds.get(Number(index)) ?? '';
      if (!keeps(orgId)) return [];
      const isList = path.length === 4;
      const section = isList ? sectionsByField.get(String(field)) : undefined;
      if (withoutUser !== undefined && textRefersTo(section, text, orgId, withoutUser)) return [];
      const kept = secrets === undefined ? text : keepSecrets(section, text, secrets);
      return kept === undefined ? [] : [writer.write(Number(index), String(field), isList, kept)];
    });
    if (texts.length > 0) yield Buffer.from(texts.join(''));
  }
  yield Buffer.from(`${writer.end()}]}`);
}

/** Appends a manifest to a file that a filter has written. */
export async function* withManifest(file: AsyncIterable<Uint8Array>, manifest: JsonObject): AsyncGenerator<Uint8Array> {
  // The last byte closes the file.
  let last = Buffer.alloc(0);
  for await (const chunk of file) {
    yield Buffer.concat([last, chunk.subarray(0, -1)]);
    last = Buffer.from(chunk.subarray(-1));
  }
  yield Buffer.from(`,"manifest":${JSON.stringify(manifest)}}`);
}

/** Returns the manifest of what a filter has kept of a file. */
export function filteredManifest(manifest: JsonObject, tally: Tally, kept: SecretSelection): JsonObject {
  const { secrets } = manifest;
  if (!isJsonObject(secrets)) return { ...manifest, ...tally };
  const others = missingKinds(kept).map((kind) => [kind, false] as const);
  return { ...manifest, ...tally, secrets: { ...secrets, ...Object.fromEntries(others) } };
}

/** Finds the ids of a file's entries, which may follow their records. */
async function readOrgIds(read: Read): Promise<Map<number, string>> {
  const orgIds = new Map<number, string>();
  for await (const values of scan(read, isOrgId))
    for (const { path, text } of values) orgIds.set(Number(path[1]), String(parseJson(text, path)));
  return orgIds;
}

/** Reads a file's manifest as it is, with what imports ignore; undefined if it has none. */
export async function readManifest(read: Read): Promise<JsonObject | undefined> {
  const scanner = new JsonScanner(
    (path) => (path.length === 0 ? 'enter' : path[0] === 'manifest' ? 'keep' : 'skip'),
    exportFileLimits,
  );
  let manifest: JsonObject | undefined;
  for await (const chunk of read())
    for (const { kind, text } of scanner.push(chunk))
      if (kind === 'object' && text !== '') manifest = parseObject(text);
  return manifest;
}

/** Whether a path is that of an organisation's id. */
export function isOrgId([, , field, ...below]: JsonPath): boolean {
  return below.length === 0 && (field === 'orgId' || field === 'org_id');
}

/** Scans the values of a file's organisations, and the elements of their lists, by default all. */
async function* scan(
  read: Read,
  isWanted: (path: JsonPath) => boolean = () => true,
): AsyncGenerator<readonly ScannedValue[]> {
  const scanner = new JsonScanner((path, kind) => {
    if (path.length > 0 && path[0] !== 'orgs') return 'skip';
    if (path.length < 3 || (path.length === 3 && kind === 'array')) return 'enter';
    return isWanted(path) ? 'keep' : 'skip';
  }, exportFileLimits);
  for await (const chunk of read())
    yield scanner.push(chunk).filter(({ path, text }) => path.length > 2 && text !== '');
  scanner.end();
}

/** Whether a record is the user's, or refers to it. */
export function refersTo({ section, json, orgId }: Referring, userId: string): boolean {
  const own = section.collection === 'users' ? section.key : [];
  const references = (section.references ?? []).filter(({ collection }) => collection === 'users');
  return (
    own.some((path) => textAt(json, path, orgId) === userId) ||
    references.some(({ key }) => key.some((path) => textsAt(json, path, orgId).includes(userId)))
  );
}

type Referring = Pick<OrganisationRecord, 'section' | 'json' | 'orgId'>;

function textRefersTo(section: Section | undefined, text: string, orgId: string, userId: string): boolean {
  if (section === undefined || !text.includes(JSON.stringify(userId))) return false;
  return refersTo(readRecord(section, parseJson(text, [section.name]), orgId), userId);
}

/** Writes the values of organisations, in the order of the file, as JSON. */
class OrganisationWriter {
  private index: number | undefined;
  private list: string | undefined;

  write(index: number, field: string, isList: boolean, text: string): string {
    const list = isList ? field : undefined;
    if (index === this.index && isList && list === this.list) return `,${text}`;
    const closed = this.list === undefined ? '' : ']';
    const start = index === this.index ? `${closed},` : `${this.end()}${this.index === undefined ? '' : ','}{`;
    [this.index, this.list] = [index, list];
    return `${start}${JSON.stringify(field)}:${isList ? '[' : ''}${text}`;
  }

  /** Returns the end of the last organisation. */
  end(): string {
    if (this.index === undefined) return '';
    return this.list === undefined ? '}' : ']}';
  }
}
