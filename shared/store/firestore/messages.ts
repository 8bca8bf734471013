// Encodes and decodes the messages of Firestore's API, with only the fields that the store uses. Google's client is not
// used for this, because it copies every message into further objects. In exports and imports, these copies took most
// of the processor time and memory.

import { lengthTag, varintTag, WireReader, WireWriter } from './wireFormat.ts';

export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

/** A value of a field. A decoded value is `undefined` if the store never writes values of its type. */
type FieldValue = string | number | boolean | undefined;

export interface DocumentMessage {
  name: string;
  fields: Record<string, FieldValue>;
  updateTime?: Timestamp;
}

interface Precondition {
  readonly exists?: boolean;
  readonly updateTime?: Timestamp;
}

export type WriteMessage = { readonly currentDocument?: Precondition } & (
  | { readonly update: DocumentMessage; readonly updateMask?: string[]; readonly delete?: undefined }
  | { readonly delete: string; readonly update?: undefined; readonly updateMask?: undefined }
);

export interface CommitRequest {
  readonly database: string;
  readonly writes: readonly WriteMessage[];
}

export interface BatchGetRequest {
  readonly database: string;
  readonly documents: readonly string[];
  readonly mask: readonly string[];
  readonly readTime?: Timestamp;
}

export interface GetRequest {
  readonly name: string;
  readonly mask: readonly string[];
  readonly readTime?: Timestamp;
}

const operators = { LESS_THAN: 1, GREATER_THAN_OR_EQUAL: 4, EQUAL: 5 };

export interface Filter {
  readonly field: string;
  readonly op: keyof typeof operators;
  readonly value: string;
}

/**
 * A position in the results of a query: a value for each field in the query's `orderBy`. The last of these fields is
 * the document's name.
 */
export interface Cursor {
  readonly texts: readonly string[];
  readonly name: string;
  /**
   * True if the position is immediately before the document with these values; false if it is immediately after that
   * document.
   */
  readonly before: boolean;
}

export interface Query {
  readonly select?: readonly string[];
  readonly from: string;
  readonly where: readonly Filter[];
  /** The names of the fields by which the results are sorted in ascending order. */
  readonly orderBy: readonly string[];
  readonly startAt?: Cursor;
}

export interface QueryRequest {
  readonly parent: string;
  readonly query: Query;
  readonly readTime?: Timestamp;
}

/**
 * The expected average size of an encoded write in bytes. It is low, because half of the writes only reserve a name.
 */
const BYTES_PER_WRITE = 512;
const BYTES_PER_NAME = 128;
const BYTES_OF_QUERY = 1_024;

export function encodeCommit({ database, writes }: CommitRequest): Buffer {
  const writer = new WireWriter(BYTES_PER_WRITE * (1 + writes.length));
  for (const write of writes.toReversed()) encodeMessage(writer, 2, write, encodeWrite);
  writer.text(1, database);
  return writer.finish();
}

export function encodeBatchGet({ database, documents, mask, readTime }: BatchGetRequest): Buffer {
  const writer = new WireWriter(BYTES_PER_NAME * (1 + documents.length));
  encodeMessage(writer, 7, readTime, encodeTime);
  encodeMessage(writer, 3, mask, encodeMask);
  for (const name of documents.toReversed()) writer.text(2, name);
  writer.text(1, database);
  return writer.finish();
}

export function encodeGet({ name, mask, readTime }: GetRequest): Buffer {
  const writer = new WireWriter(BYTES_PER_NAME);
  encodeMessage(writer, 5, readTime, encodeTime);
  encodeMessage(writer, 2, mask, encodeMask);
  writer.text(1, name);
  return writer.finish();
}

export function encodeQueryRequest({ parent, query, readTime }: QueryRequest): Buffer {
  const writer = new WireWriter(BYTES_OF_QUERY);
  encodeMessage(writer, 7, readTime, encodeTime);
  encodeMessage(writer, 2, query, encodeQuery);
  writer.text(1, parent);
  return writer.finish();
}

function encodeMessage<Message>(
  writer: WireWriter,
  field: number,
  message: Message | undefined,
  encode: (writer: WireWriter, message: Message) => void,
): void {
  if (message === undefined) return;
  const { size } = writer;
  encode(writer, message);
  writer.message(field, size);
}

function encodeWrite(writer: WireWriter, write: WriteMessage): void {
  encodeMessage(writer, 4, write.currentDocument, encodePrecondition);
  encodeMessage(writer, 3, write.updateMask, encodeMask);
  if (write.delete !== undefined) writer.text(2, write.delete);
  encodeMessage(writer, 1, write.update, encodeDocument);
}

function encodeMask(writer: WireWriter, paths: readonly string[]): void {
  for (const path of paths.toReversed()) writer.text(1, path);
}

function encodePrecondition(writer: WireWriter, { exists, updateTime }: Precondition): void {
  encodeMessage(writer, 2, updateTime, encodeTime);
  if (exists !== undefined) writer.integer(1, Number(exists));
}

function encodeTime(writer: WireWriter, { seconds, nanos }: Timestamp): void {
  writer.integer(2, nanos);
  writer.integer(1, seconds);
}

function encodeDocument(writer: WireWriter, { name, fields }: DocumentMessage): void {
  for (const key in fields) {
    const { size } = writer;
    encodeMessage(writer, 2, fields[key], encodeValue);
    writer.text(1, key);
    writer.message(2, size);
  }
  writer.text(1, name);
}

function encodeValue(writer: WireWriter, value: NonNullable<FieldValue>): void {
  if (typeof value === 'string') writer.text(17, value);
  else if (typeof value === 'number') writer.integer(2, value);
  else writer.integer(1, Number(value));
}

function encodeQuery(writer: WireWriter, { select, from, where, orderBy, startAt }: Query): void {
  encodeMessage(writer, 7, startAt, encodeCursor);
  for (const path of orderBy.toReversed()) encodeMessage(writer, 4, path, encodeOrder);
  if (where.length > 0) encodeMessage(writer, 3, where, encodeConjunction);
  encodeMessage(writer, 2, from, (_, collection) => writer.text(2, collection));
  encodeMessage(writer, 1, select, encodeProjection);
}

function encodeCursor(writer: WireWriter, { texts, name, before }: Cursor): void {
  writer.integer(2, Number(before));
  encodeMessage(writer, 1, name, (_, reference) => writer.text(5, reference));
  for (const text of texts.toReversed()) encodeMessage(writer, 1, text, encodeValue);
}

function encodeOrder(writer: WireWriter, path: string): void {
  const ascending = 1;
  writer.integer(2, ascending);
  encodeMessage(writer, 1, path, encodeField);
}

function encodeField(writer: WireWriter, path: string): void {
  writer.text(2, path);
}

function encodeProjection(writer: WireWriter, paths: readonly string[]): void {
  for (const path of paths.toReversed()) encodeMessage(writer, 2, path, encodeField);
}

function encodeConjunction(writer: WireWriter, filters: readonly Filter[]): void {
  const and = 1;
  const { size } = writer;
  for (const filter of filters.toReversed())
    encodeMessage(writer, 2, filter, () => encodeMessage(writer, 2, filter, encodeFilter));
  writer.integer(1, and);
  writer.message(1, size);
}

function encodeFilter(writer: WireWriter, { field, op, value }: Filter): void {
  encodeMessage(writer, 3, value, encodeValue);
  writer.integer(2, operators[op]);
  encodeMessage(writer, 1, field, encodeField);
}

/** `found` is absent in a response that contains only the time of the read. */
export interface BatchGetResponse {
  found?: DocumentMessage;
  readTime?: Timestamp;
}

export function decodeBatchGetResponse(bytes: Buffer): BatchGetResponse {
  const reader = new WireReader(bytes);
  const response: BatchGetResponse = {};
  for (let tag = reader.tag(bytes.length); tag !== 0; tag = reader.tag(bytes.length)) {
    if (tag === lengthTag(1)) response.found = readDocument(reader, reader.messageEnd());
    else if (tag === lengthTag(4)) response.readTime = readTime(reader);
    else reader.skip(tag);
  }
  return response;
}

/** `document` is absent in a response that contains only the time of the read. */
export interface QueryResponse {
  document?: DocumentMessage;
}

export function decodeQueryResponse(bytes: Buffer): QueryResponse {
  const reader = new WireReader(bytes);
  const response: QueryResponse = {};
  for (let tag = reader.tag(bytes.length); tag !== 0; tag = reader.tag(bytes.length)) {
    if (tag === lengthTag(1)) response.document = readDocument(reader, reader.messageEnd());
    else reader.skip(tag);
  }
  return response;
}

export function decodeDocumentMessage(bytes: Buffer): DocumentMessage {
  return readDocument(new WireReader(bytes), bytes.length);
}

function readDocument(reader: WireReader, end: number): DocumentMessage {
  const document: DocumentMessage = { name: '', fields: {} };
  for (let tag = reader.tag(end); tag !== 0; tag = reader.tag(end)) {
    if (tag === lengthTag(1)) document.name = reader.text();
    else if (tag === lengthTag(2)) readField(reader, document.fields);
    else if (tag === lengthTag(4)) document.updateTime = readTime(reader);
    else reader.skip(tag);
  }
  return document;
}

function readField(reader: WireReader, fields: DocumentMessage['fields']): void {
  const end = reader.messageEnd();
  let key = '';
  let value: FieldValue;
  for (let tag = reader.tag(end); tag !== 0; tag = reader.tag(end)) {
    if (tag === lengthTag(1)) key = reader.text();
    else if (tag === lengthTag(2)) value = readValue(reader);
    else reader.skip(tag);
  }
  fields[key] = value;
}

function readValue(reader: WireReader): FieldValue {
  const end = reader.messageEnd();
  let value: FieldValue;
  for (let tag = reader.tag(end); tag !== 0; tag = reader.tag(end)) {
    if (tag === lengthTag(17)) value = reader.text();
    else if (tag === varintTag(1)) value = reader.varint() !== 0;
    else if (tag === varintTag(2)) value = reader.integer();
    else reader.skip(tag);
  }
  return value;
}

function readTime(reader: WireReader): Timestamp {
  const end = reader.messageEnd();
  let seconds = 0;
  let nanos = 0;
  for (let tag = reader.tag(end); tag !== 0; tag = reader.tag(end)) {
    if (tag === varintTag(1)) seconds = reader.integer();
    else if (tag === varintTag(2)) nanos = reader.varint();
    else reader.skip(tag);
  }
  return { seconds, nanos };
}
