import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { RecordCounter } from '../../../cli/exports/recordCounter.ts';
import { readEnvelope } from '../../../functions/import/request/envelope.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import { JsonError, type JsonPath, JsonScanner, type Treatment } from '../../../shared/json/jsonScanner.ts';
import { organisationFields } from '../../../shared/organisation/record.ts';
import { chunks, hostileDocument, type Random, randomNumbers } from './hostileDocuments.ts';

/** The texts that JSON.parse accepts and a reader rejects deliberately, by the reader's message. */
const differences = {
  'a name twice in an object that is entered': /duplicate field "/,
  'half of a surrogate pair': /unpaired surrogate/,
  'another structure than that of a file or a request':
    /expected an object|expected a list|missing list of organisations|unexpected null in a list|expected true or false/,
};

/** The counts of a comparison. */
export interface Compared {
  /** The documents that JSON.parse accepts. */
  accepted: number;
  /** The values that were compared. */
  values: number;
  /** The number of rejections of texts that JSON.parse accepts, by reason. */
  readonly refused: Record<string, number>;
}

interface Parsed {
  readonly value: unknown;
}

/** Parses bytes as the reference does; undefined if they are no JSON. */
function parse(bytes: Buffer): Parsed | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return undefined;
  }
}

const limits = { valueBytes: 1_000_000, fields: 100_000 };
const treatments: readonly Treatment[] = ['enter', 'enter', 'keep', 'skip', 'glance'];

/** Compares all readers with JSON.parse on one document, which is split at different places for each. */
class Comparison {
  private readonly document: Buffer;
  private readonly random: Random;
  private readonly compared: Compared;

  constructor(document: Buffer, random: Random, compared: Compared) {
    this.document = document;
    this.random = random;
    this.compared = compared;
  }

  async run(): Promise<void> {
    const parsed = parse(this.document);
    // A scanner cannot detect the end of a lone number; no reader accepts one as a document.
    if (parsed !== undefined && typeof parsed.value !== 'object') return;
    if (parsed !== undefined) this.compared.accepted++;
    await this.compareVerdict(parsed, () => this.readAsServer(parsed));
    await this.compareVerdict(parsed, () => this.readAsCommand());
    await this.compareVerdict(parsed, () => this.scan(parsed));
    const request = Buffer.concat([Buffer.from('{"dry_run":true,"data_orgs":'), this.document, Buffer.from('}')]);
    const parsedRequest = parse(request);
    await this.compareVerdict(parsedRequest, () => this.readRequest(request, parsedRequest));
  }

  /** Reads like an import, and compares the records. */
  private async readAsServer(parsed: Parsed | undefined): Promise<void> {
    const reader = new ExportFileReader(() => true);
    const items = this.cut(this.document).flatMap((piece) => reader.push(piece));
    reader.end();
    if (parsed === undefined) return;
    const found = items.map(({ path, text }): [JsonPath, unknown] => [path, JSON.parse(text)]);
    this.compared.values += found.length;
    if (!isDeepStrictEqual(found, itemsOf(parsed.value))) throw new Error('other records');
  }

  /** Reads like the command before it sends a file to a target. */
  private async readAsCommand(): Promise<void> {
    for await (const _ of new RecordCounter('file').count(this.stream(this.document)));
  }

  /** Scans with a random treatment of each value, and compares the ends of the values. */
  private async scan(parsed: Parsed | undefined): Promise<void> {
    const draw = () => treatments[this.random(treatments.length)] ?? 'enter';
    const scanner = new JsonScanner((path) => (path.length === 0 ? 'enter' : draw()), limits);
    const values = this.cut(this.document).flatMap((piece) => scanner.push(piece));
    scanner.end();
    if (parsed === undefined) return;
    for (const { path, start, end } of values) this.compareValue(this.document.subarray(start, end), parsed, path);
  }

  /** Reads a request with the document as its file, and compares the end of the file. */
  private async readRequest(body: Buffer, parsed: Parsed | undefined): Promise<void> {
    const open = (start = 0, end = body.length) => this.stream(body.subarray(start, end));
    const { inline } = await readEnvelope({ open });
    if (parsed === undefined) return;
    for (const { field, start, end } of inline) this.compareValue(body.subarray(start, end), parsed, [field]);
  }

  private compareValue(bytes: Buffer, parsed: Parsed, path: JsonPath): void {
    this.compared.values++;
    if (!isDeepStrictEqual(parse(bytes)?.value, at(parsed.value, path))) throw new Error(`another end of ${path}`);
  }

  private async compareVerdict(parsed: Parsed | undefined, read: () => Promise<void>): Promise<void> {
    const reason = await read().then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof JsonError || error instanceof IdentityError) return error.message;
        throw error;
      },
    );
    if (reason === undefined && parsed === undefined) throw new Error(`${read} accepts it, JSON.parse does not`);
    if (reason === undefined || parsed === undefined) return;
    const [difference] = Object.entries(differences).find(([, message]) => message.test(reason)) ?? [];
    if (difference === undefined) throw new Error(`${read} refuses it, JSON.parse does not: ${reason}`);
    this.compared.refused[difference] = (this.compared.refused[difference] ?? 0) + 1;
  }

  private cut(bytes: Buffer): Buffer[] {
    return chunks(bytes, this.random);
  }

  private async *stream(bytes: Buffer): AsyncGenerator<Buffer> {
    yield* this.cut(bytes);
  }
}

/** Lists the values of an export file that an import reads, in its order, each with its path. */
function itemsOf(file: unknown): [JsonPath, unknown][] {
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

function at(value: unknown, path: JsonPath): unknown {
  let found = value;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else if (isJsonObject(found)) found = found[String(step)];
  }
  return found;
}

/**
 * Compares the readers of the command and of the server with JSON.parse, on documents of a hostile grammar.
 * @throws Error for the first document about which they disagree
 */
export async function compareReaders(documents: number, seed: number): Promise<Compared> {
  const random = randomNumbers(seed);
  const compared: Compared = { accepted: 0, values: 0, refused: {} };
  for (let count = 0; count < documents; count++) {
    const document = hostileDocument(random);
    await new Comparison(document, random, compared).run().catch((cause: unknown) => {
      throw new Error(`seed ${seed}, document ${count}: ${JSON.stringify(document.toString('latin1'))}`, { cause });
    });
  }
  return compared;
}
