import { isDeepStrictEqual } from 'node:util';
import { RecordCounter } from '../../../cli/exports/recordCounter.ts';
import { readEnvelope } from '../../../functions/import/request/envelope.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { JsonError, type JsonPath } from '../../../shared/json/jsonError.ts';
import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import { organisationFields } from '../../../shared/organisation/recordSchema.ts';
import { cutAtRandom, type Random, randomDocument, randomNumbers } from './randomDocuments.ts';
import { parseReference } from './referenceParser.ts';

/** The errors for JSON that is not a valid file or request. */
const deliberate =
  /duplicate field |unpaired surrogate|expected an object|expected a list|expected a single file|missing list of organisations|unexpected null in a list|expected true or false|not an export file/;

/** The counts of a comparison. */
export interface Compared {
  /** The number of documents that JSON.parse accepts. */
  accepted: number;
  /** The number of compared values. */
  values: number;
}

/** A reader of files, or of requests that contain a file. */
interface Reader {
  readonly isOfRequests?: boolean;
  /** Reads bytes, and returns their records; undefined if the reader does not return records. */
  read(bytes: Buffer, cut: (bytes: Buffer) => Buffer[]): Promise<[JsonPath, unknown][] | undefined>;
}

async function* stream(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

const readRecords = (pieces: readonly Buffer[]) => {
  const reader = new ExportFileReader(() => true);
  const items = pieces.flatMap((piece) => reader.push(piece));
  reader.end();
  return items.map(({ path, value }): [JsonPath, unknown] => [path, value]);
};

const { signal } = new AbortController();

const readers: readonly Reader[] = [
  { read: async (file, cut) => readRecords(cut(file)) },
  {
    read: async (file, cut) => {
      for await (const _ of new RecordCounter('file').count({ open: () => stream(cut(file)) }, signal));
      return undefined;
    },
  },
  {
    isOfRequests: true,
    read: async (body, cut) => {
      const open = (start = 0, end = body.length) => stream(cut(body.subarray(start, end)));
      const { inline } = await readEnvelope({ open });
      const [file, another] = inline;
      // An import rejects both after it has read the envelope.
      if (another !== undefined) throw new JsonError([], 'expected a single file');
      if (file !== undefined && file.kind !== 'object') throw new JsonError([], 'expected an object');
      return file && readRecords(cut(body.subarray(file.start, file.end)));
    },
  },
];

/** Lists the values of an export file that an import reads, in its order, each with its path. */
function recordsOf(file: unknown): [JsonPath, unknown][] {
  if (!isJsonObject(file)) return [];
  return Object.entries(file).flatMap(([name, value]): [JsonPath, unknown][] => {
    if (name === 'manifest' && value !== null) return [[[name], value]];
    if (name !== 'orgs' || !Array.isArray(value)) return [];
    return value.flatMap((entry, index) => fieldsOf(entry, ['orgs', index]));
  });
}

function fieldsOf(entry: unknown, path: JsonPath): [JsonPath, unknown][] {
  if (!isJsonObject(entry)) return [];
  return Object.entries(entry).flatMap(([name, value]): [JsonPath, unknown][] => {
    const field = organisationFields.get(name);
    if (field === undefined || value === null) return [];
    if (!Array.isArray(value) || !field.list) return [[[...path, name], value]];
    return value.map((element, index): [JsonPath, unknown] => [[...path, name, index], element]);
  });
}

/**
 * Reads a document, and compares the result and the records with those of JSON.parse. Returns the number of records.
 */
async function compare({ isOfRequests = false, read }: Reader, document: Buffer, random: Random): Promise<number> {
  const bytes = isOfRequests
    ? Buffer.concat([Buffer.from('{"dry_run":true,"data_orgs":'), document, Buffer.from('}')])
    : document;
  const reference = parseReference(bytes);
  const result = await read(bytes, (part) => cutAtRandom(part, random)).catch((error: unknown) => {
    if (error instanceof JsonError || error instanceof IdentityError) return error.message;
    throw error;
  });
  if (typeof result === 'string') {
    if (reference !== undefined && !deliberate.test(result)) throw new Error(`rejected: ${result}`);
    return 0;
  }
  if (reference === undefined) throw new Error('accepted, although it is not JSON');
  if (result === undefined) return 0;
  const file = isOfRequests && isJsonObject(reference.value) ? reference.value.data_orgs : reference.value;
  if (!isDeepStrictEqual(result, recordsOf(file))) throw new Error('read with other records');
  return result.length;
}

/**
 * Compares the readers of the command and of the server with JSON.parse, on random documents.
 * @throws Error for the first document about which they disagree
 */
export async function compareReaders(documents: number, seed: number): Promise<Compared> {
  const random = randomNumbers(seed);
  const compared: Compared = { accepted: 0, values: 0 };
  for (let count = 0; count < documents; count++) {
    const document = randomDocument(random);
    if (parseReference(document) !== undefined) compared.accepted++;
    for (const [index, reader] of readers.entries())
      compared.values += await compare(reader, document, random).catch((cause: unknown) => {
        const text = JSON.stringify(document.toString('latin1'));
        throw new Error(`seed ${seed}, document ${count}, reader ${index}: ${text}`, { cause });
      });
  }
  return compared;
}
