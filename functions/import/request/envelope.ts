import {
  bodyInvalid,
  bodyNoObject,
  type FieldViolation,
  invalidRequest,
  requestTooLarge,
  sourceUnsupported,
} from '../../../shared/errors/errors.ts';
import { shortenedText } from '../../../shared/errors/identityError.ts';
import { EXPECTED_FILE, exportFileJson, inlineFields } from '../../../shared/exportFile/fileForm.ts';
import { exportFileLimits, type IgnoredField } from '../../../shared/exportFile/manifest.ts';
import { ExportFileReader, type ExportFileSource } from '../../../shared/exportFile/reader.ts';
import { formatPath, JsonError, withLine } from '../../../shared/json/jsonError.ts';
import { snakeCase } from '../../../shared/json/spelling.ts';
import {
  JsonSplitter,
  type SplitValue,
  type Treatment,
  uniqueValue,
  type ValueKind,
} from '../../../shared/json/splitter.ts';
import { stringContent } from '../../../shared/json/stringContent.ts';
import type { ObjectStorage, PinnedObject } from '../../../shared/objectStorage/objectStorage.ts';
import type { TransferObject } from '../../../shared/objectStorage/transfers.ts';
import { chunksInTurns, yieldToEventLoop } from '../../../shared/turns.ts';
import { IgnoredFields } from '../../../shared/wire/ignoredFields.ts';
import { objectLocation, readRequest } from '../../../shared/wire/requestMessage.ts';
import {
  bucketFields,
  EXPORT_FILE,
  type ImportRequest,
  importFields,
  importOptions,
  importRequest,
  unsupportedSources,
  uploadFields,
} from '../contract.ts';

/**
 * An export file inside the request: the position of its first byte, the position after its last byte, and its JSON
 * kind.
 */
interface InlineFile {
  readonly field: string;
  readonly kind: ValueKind;
  readonly start: number;
  readonly end: number;
}

/**
 * An import request. Its inline export files are not parsed yet, because they can be large; only their positions in the
 * body are known.
 */
export interface ImportEnvelope {
  readonly request: ImportRequest;
  readonly inline: readonly InlineFile[];
  /** True if the whole body is the export file and the query contains the options. */
  readonly isFile?: true;
  readonly ignored: readonly IgnoredField[];
}

export function adviceIfLarger(hasTransfers: boolean): string {
  const ownBucket = 'upload the file to a bucket and set data_orgsv1_gcs';
  return hasTransfers ? `open an upload with the field upload, or ${ownBucket}` : ownBucket;
}

/**
 * Reads an import request (specification 2.5) without keeping its inline export file in memory. Checks and ignores
 * unknown fields (see zitadel 1.1). Does not check the file: the import validates it before the first write.
 * @throws IdentityError INVALID_ARGUMENT for malformed JSON, a body other than an object, or an invalid field
 */
export async function readEnvelope(body: RequestBytes): Promise<ImportEnvelope> {
  const fields: Record<string, unknown> = {};
  const inline: InlineFile[] = [];
  const ignored = new IgnoredFields(new Map([...importFields, ...inlineFields]));
  let fileStart: number | undefined;
  const splitter = new JsonSplitter((path, kind, start) => {
    const [name] = path;
    if (name === undefined) return enterBody(kind);
    if (inlineFields.has(String(name)) && kind === 'object') fileStart ??= start;
    return treatField(String(name), path.length, kind);
  }, exportFileLimits);
  try {
    for await (const chunk of body.open()) {
      // Reading many small fields takes long. A body in memory arrives without pauses, so without this yield other
      // calls would wait.
      await yieldToEventLoop();
      for (const value of splitter.push(chunk)) addField(value, { fields, inline, ignored });
    }
    splitter.end();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const inFile = await errorInFile(body, fileStart);
    const { path, message } = await withLine(inFile ?? error, body.open(inFile && fileStart));
    throw path.length === 0
      ? bodyInvalid({ problem: shortenedText(message) })
      : invalidRequest([{ field: formatPath(path), description: message }]);
  }
  const request = readRequest(importRequest, fields);
  if (request.upload !== undefined) requireNoOptions(fields);
  return { request, inline, ignored: ignored.list };
}

/**
 * Requires that the options of a mirroring import are consistent.
 * @throws IdentityError INVALID_ARGUMENT
 */
export function requireMirrorOptions({ mirror, onConflict, dryRun, maxDeleted, replaceChanged }: ImportRequest): void {
  const violations: FieldViolation[] = [];
  const add = (field: string, description: string) => void violations.push({ field, description });
  if (mirror && onConflict !== 'overwrite') add('on_conflict', 'must be overwrite if mirror is set');
  if (mirror && !dryRun && maxDeleted === undefined)
    add('max_deleted', 'is missing: set it to the number of deletions that a dry run lists');
  if (!mirror && maxDeleted !== undefined)
    add('max_deleted', 'has no effect without mirror: remove the field, or set mirror');
  if (!mirror && replaceChanged.length > 0)
    add('replace_changed', 'has no effect without mirror: remove the field, or set mirror');
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Requires that a request to open an upload has no option except `timeout`, which limits the time of this request. */
function requireNoOptions(fields: Readonly<Record<string, unknown>>): void {
  const options = Object.keys(fields).filter((name) => {
    const option = importFields.get(name);
    return option !== undefined && option !== 'timeout' && option in importOptions && fields[name] !== null;
  });
  if (options.length === 0) return;
  const description =
    'has no effect in a request that opens an upload: send the field in the request that imports the upload, with data_orgs_upload';
  throw invalidRequest(options.map((name) => ({ field: snakeCase(name), description })));
}

/**
 * Returns the error inside an inline file, if the file caused the failure. The parser of the request cannot find this
 * error: if brackets in the file are unbalanced, the parser fails only at a position after the file.
 */
async function errorInFile(body: RequestBytes, start: number | undefined): Promise<JsonError | undefined> {
  if (start === undefined) return undefined;
  const reader = new ExportFileReader(() => true);
  try {
    for await (const chunk of chunksInTurns(body.open(start))) reader.push(chunk);
  } catch (error) {
    // If an error has no path, its cause is outside the file.
    if (error instanceof JsonError) return error.path.length > 0 ? error : undefined;
    throw error;
  }
  return undefined;
}

interface SortedFields {
  readonly fields: Record<string, unknown>;
  readonly inline: InlineFile[];
  readonly ignored: IgnoredFields;
}

function addField(splitValue: SplitValue, { fields, inline, ignored }: SortedFields): void {
  const { path, kind, start, end, value } = splitValue;
  const name = String(path[0]);
  const field = inlineFields.get(name);
  if (importFields.has(name)) fields[name] = uniqueValue(splitValue);
  else if (field !== undefined && value !== null) inline.push({ field, kind, start, end });
  else if (field === undefined && (value !== null || path.length > 1)) ignored.add(name);
}

function enterBody(kind: ValueKind): Treatment {
  if (kind !== 'object') throw bodyNoObject();
  return 'enter';
}

/**
 * Decides how to read a field of the request. Unknown objects and lists can be large, so their content is checked piece
 * by piece.
 */
function treatField(name: string, depth: number, kind: ValueKind): Treatment {
  if (depth > 1 || kind === 'scalar' || importFields.has(name)) return 'keep';
  return inlineFields.has(name) ? 'skip' : 'enter';
}

export interface FoundSource extends ExportFileSource {
  /**
   * The object in Cloud Storage that contains the file, with its pinned generation; undefined if the file is in the
   * request.
   */
  readonly location?: Pick<TransferObject, 'bucket' | 'path' | 'generation'>;
}

interface SourcePorts {
  readonly objectStorage: ObjectStorage;
  readonly findUpload: (id: string) => Promise<TransferObject>;
  /**
   * Called with an object. Returns an object that downloads the content only for the first read and then keeps it in
   * memory, if the memory budget for request bodies suffices.
   */
  readonly keep: (object: Pick<PinnedObject, 'size' | 'read'>) => Pick<PinnedObject, 'read'>;
  /** The maximum size in bytes, after decompression, of a file that is the request body. */
  readonly maxBytes: number;
  readonly advice: string;
}

/** A request body that can be read repeatedly, as a whole or in part. */
export interface RequestBytes {
  open(start?: number, end?: number): AsyncIterable<Uint8Array>;
}

/**
 * Requires that a request contains exactly one export file, or opens an upload.
 * @throws IdentityError INVALID_ARGUMENT for no source or several sources; UNIMPLEMENTED for ZITADEL's local and S3
 * sources
 */
export function requireOneSource({ request, inline, isFile }: ImportEnvelope): void {
  if (isFile === true) return;
  const unsupported = unsupportedSources.find((name) => request[name] !== undefined);
  if (unsupported !== undefined) throw sourceUnsupported({ field: snakeCase(unsupported) });
  const named = [...bucketFields, ...uploadFields].filter((name) => request[name] !== undefined);
  const fields = [...inline.map(({ field }) => field), ...named.map(snakeCase)];
  if (fields.length !== 1) throw invalidRequest([sourceCountViolation(fields)]);
}

/**
 * Returns the export file of a request that has exactly one source (specification 4.3). The source is the body, an
 * inline object or text, an object in a bucket, or an upload. Pins an object's generation, so that every read returns
 * the same bytes.
 */
export async function findSource(
  { request, inline, isFile }: ImportEnvelope,
  body: RequestBytes,
  { objectStorage, findUpload, keep, maxBytes, advice }: SourcePorts,
  signal: AbortSignal,
): Promise<FoundSource> {
  if (isFile === true) return { isInRequest: true, open: () => bodyJson(body.open(), { maxBytes, advice }) };
  const [file] = inline;
  if (file !== undefined) return inlineSource(file, body);
  if (request.dataOrgsUpload !== undefined) {
    const upload = await findUpload(request.dataOrgsUpload);
    const kept = keep(upload);
    return { location: upload, open: (readSignal) => exportFileJson(kept.read(readSignal)) };
  }
  const name = request.dataOrgsGcs === undefined ? 'dataOrgsv1Gcs' : 'dataOrgsGcs';
  const location = request[name] && objectLocation(request[name], snakeCase(name));
  if (location === undefined) throw invalidRequest([sourceCountViolation([])]);
  const object = await objectStorage.pin(location, signal);
  const kept = keep(object);
  return {
    location: { ...location, generation: object.generation },
    isV1: name === 'dataOrgsv1Gcs',
    open: (readSignal) => exportFileJson(kept.read(readSignal)),
  };
}

function bodyJson(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, advice }: Pick<SourcePorts, 'maxBytes' | 'advice'>,
): AsyncIterable<Uint8Array> {
  return exportFileJson(body, (bytes) => {
    if (bytes > maxBytes) throw requestTooLarge({ limit: maxBytes, advice });
  });
}

function inlineSource({ field, kind, start, end }: InlineFile, body: RequestBytes): ExportFileSource {
  const named = { field, isInRequest: true, isV1: field === 'data_orgsv1' };
  if (kind === 'object') return { ...named, open: () => exportFileJson(body.open(start, end)) };
  if (kind === 'string')
    return { ...named, open: () => exportFileJson(stringContent(body.open(start + 1, end - 1), [field])) };
  throw invalidRequest([{ field, description: EXPECTED_FILE }]);
}

function sourceCountViolation(fields: readonly string[]): FieldViolation {
  const problem = fields.length === 0 ? 'no source' : `several sources, ${fields.join(' and ')}`;
  const remedy = 'set exactly one of data_orgsv1, data_orgsv1_gcs, data_orgs, data_orgs_gcs and data_orgs_upload';
  const orFile = fields.length === 0 ? `, or send the file as the body with Content-Type: ${EXPORT_FILE}` : '';
  const description = `${problem}: ${remedy}${orFile}`;
  return { field: fields[0] ?? 'data_orgsv1', description };
}
