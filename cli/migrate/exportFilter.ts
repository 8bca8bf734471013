import { type JsonObject, parseObject, textAt, textsAt } from '../../shared/json/jsonObject.ts';
import { JsonScanner, parseJson, type ScannedValue } from '../../shared/json/jsonScanner.ts';
import { fixedLimits } from '../../shared/limits.ts';
import { type OrganisationRecord, organisationFields, readRecord } from '../../shared/organisation/record.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import { MAX_DOCUMENT_BYTES } from '../../shared/store/store.ts';

/** What to leave out of an export file; by default nothing. */
export interface ExportFilter {
  readonly keeps?: (orgId: string) => boolean;
  /** The user who is left out with everything that refers to it. */
  readonly withoutUser?: string | undefined;
}

const sectionsByField = new Map<string, Section>(
  [...organisationFields].flatMap(([field, { name }]) => {
    const section = sections.find((one) => one.name === name);
    return section === undefined ? [] : [[field, section] as const];
  }),
);

const limits = { valueBytes: MAX_DOCUMENT_BYTES, fields: fixedLimits.fields };

type Read = () => AsyncIterable<Uint8Array>;

/**
 * Yields an export file with the organisations that a filter keeps.
 * @param read reads the file; it is read twice
 * @param manifest that of the result, if it has one
 * @throws JsonError
 */
export async function* filterExport(
  read: Read,
  { keeps = () => true, withoutUser }: ExportFilter,
  manifest?: JsonObject,
): AsyncGenerator<Uint8Array> {
  const orgIds = await readOrgIds(read);
  const writer = new OrganisationWriter();
  yield Buffer.from('{"orgs":[');
  for await (const values of scan(read, isOfOrganisation)) {
    const texts = values.flatMap(({ path: [, index = 0, field = ''], path, text }) => {
      const orgId = orgIds.get(Number(index)) ?? '';
      const isList = path.length === 4;
      const refers = withoutUser !== undefined && isList && textRefersTo(String(field), text, orgId, withoutUser);
      return keeps(orgId) && !refers ? [writer.write(Number(index), String(field), isList, text)] : [];
    });
    if (texts.length > 0) yield Buffer.from(texts.join(''));
  }
  const end = manifest === undefined ? '' : `,"manifest":${JSON.stringify(manifest)}`;
  yield Buffer.from(`${writer.end()}]${end}}`);
}

/** Finds the ids of a file's entries, which may follow their records. */
async function readOrgIds(read: Read): Promise<Map<number, string>> {
  const orgIds = new Map<number, string>();
  for await (const values of scan(read, ({ path }) => path.length === 3 && isOrgId(path[2])))
    for (const { path, text } of values) orgIds.set(Number(path[1]), String(parseJson(text, path)));
  return orgIds;
}

/** Reads a file's manifest as it is, with what imports ignore; undefined if it has none. */
export async function readManifest(read: Read): Promise<JsonObject | undefined> {
  const scanner = new JsonScanner(
    (path) => (path.length === 0 ? 'enter' : path[0] === 'manifest' ? 'keep' : 'skip'),
    limits,
  );
  let manifest: JsonObject | undefined;
  for await (const chunk of read())
    for (const { kind, text } of scanner.push(chunk))
      if (kind === 'object' && text !== '') manifest = parseObject(text);
  return manifest;
}

function isOrgId(field: unknown): boolean {
  return field === 'orgId' || field === 'org_id';
}

function isOfOrganisation({ path }: Pick<ScannedValue, 'path'>): boolean {
  return path.length === 3 || path.length === 4;
}

/** Scans the values of a file's organisations, and the elements of their lists. */
async function* scan(
  read: Read,
  isKept: (value: Pick<ScannedValue, 'path'>) => boolean,
): AsyncGenerator<readonly ScannedValue[]> {
  const scanner = new JsonScanner((path, kind) => {
    if (path.length > 0 && path[0] !== 'orgs') return 'skip';
    if (path.length < 3 || (path.length === 3 && kind === 'array')) return 'enter';
    return isKept({ path }) ? 'keep' : 'skip';
  }, limits);
  for await (const chunk of read())
    yield scanner.push(chunk).filter(({ path, text }) => text !== '' && isKept({ path }));
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

function textRefersTo(field: string, text: string, orgId: string, userId: string): boolean {
  const section = sectionsByField.get(field);
  if (section === undefined || !text.includes(JSON.stringify(userId))) return false;
  return refersTo(readRecord(section, parseJson(text, [field]), orgId), userId);
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
