import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { protobuf } from 'google-gax';
import { describe, expect, it } from 'vitest';
import {
  decodeBatchGetResponse,
  decodeDocumentMessage,
  decodeQueryResponse,
  encodeBatchGet,
  encodeCommit,
  encodeGet,
  encodeQueryRequest,
} from '../../../../shared/store/firestore/messages.ts';

// The reference is the schema in Google's client.

const client = createRequire(createRequire(import.meta.url).resolve('@google-cloud/firestore'));
const schema = await readFile(client.resolve('@google-cloud/firestore-api/build/protos/protos.json'), 'utf8');
const root = protobuf.Root.fromJSON(JSON.parse(schema));

function decode(type: string, bytes: Buffer): unknown {
  const message = root.lookupType(`google.firestore.v1.${type}`);
  return message.toObject(message.decode(bytes), { longs: Number, enums: String });
}

function encode(type: string, message: Record<string, unknown>): Buffer {
  const definition = root.lookupType(`google.firestore.v1.${type}`);
  return Buffer.from(definition.encode(definition.fromObject(message)).finish());
}

const database = 'projects/p/databases/(default)';
const parent = `${database}/documents`;
const name = `${parent}/users/00~1`;
const time = { seconds: 1_764_500_000, nanos: 123_456_000 };
const fields = { body: '{"userName":"Chloé 美咲"}'.repeat(100), state: '', otpEmail: false, sequence: -70_000 };
const values = {
  body: { stringValue: fields.body },
  state: { stringValue: '' },
  otpEmail: { booleanValue: false },
  sequence: { integerValue: -70_000 },
};

describe('a request', () => {
  it('of a commit contains all writes in their order', () => {
    const writes = [
      { update: { name, fields: { ...fields } }, currentDocument: { exists: false } },
      { update: { name, fields: {} }, updateMask: [], currentDocument: { updateTime: time } },
      { update: { name, fields: { state: '' } }, updateMask: ['state', 'body'], currentDocument: { exists: true } },
      { delete: name, currentDocument: { exists: false } },
      { delete: `${name}2` },
    ];
    expect(decode('CommitRequest', encodeCommit({ database, writes }))).toEqual({
      database,
      writes: [
        { update: { name, fields: values }, currentDocument: { exists: false } },
        { update: { name }, updateMask: {}, currentDocument: { updateTime: time } },
        {
          update: { name, fields: { state: { stringValue: '' } } },
          updateMask: { fieldPaths: ['state', 'body'] },
          currentDocument: { exists: true },
        },
        { delete: name, currentDocument: { exists: false } },
        { delete: `${name}2` },
      ],
    });
  });

  it('of documents contains their names, the fields and the read time', () => {
    const documents = Array.from({ length: 300 }, (_, index) => `${name}${index}`);
    const request = { database, documents, mask: ['body', 'orgId'], readTime: time };
    const expected = { ...request, mask: { fieldPaths: ['body', 'orgId'] } };
    expect(decode('BatchGetDocumentsRequest', encodeBatchGet(request))).toEqual(expected);
  });

  it.each([[time], [undefined]])('of a document at the time %o contains its name and the field', (readTime) => {
    const request = { name, mask: ['commit'], ...(readTime === undefined ? {} : { readTime }) };
    const expected = { ...request, mask: { fieldPaths: ['commit'] } };
    expect(decode('GetDocumentRequest', encodeGet(request))).toEqual(expected);
  });

  it('of a query contains all conditions, the order, and the position', () => {
    const query = {
      select: ['partition', 'body'],
      from: 'users',
      where: [
        { field: 'partition', op: 'GREATER_THAN_OR_EQUAL', value: 'a/' },
        { field: 'partition', op: 'LESS_THAN', value: 'a0' },
      ],
      orderBy: ['partition', '__name__'],
      startAt: { texts: ['a/1'], name, before: true },
    } as const;
    const field = { fieldPath: 'partition' };
    expect(decode('RunQueryRequest', encodeQueryRequest({ parent, query, readTime: time }))).toEqual({
      parent,
      structuredQuery: {
        select: { fields: [field, { fieldPath: 'body' }] },
        from: [{ collectionId: 'users' }],
        where: {
          compositeFilter: {
            op: 'AND',
            filters: [
              { fieldFilter: { field, op: 'GREATER_THAN_OR_EQUAL', value: { stringValue: 'a/' } } },
              { fieldFilter: { field, op: 'LESS_THAN', value: { stringValue: 'a0' } } },
            ],
          },
        },
        orderBy: [
          { field, direction: 'ASCENDING' },
          { field: { fieldPath: '__name__' }, direction: 'ASCENDING' },
        ],
        startAt: { values: [{ stringValue: 'a/1' }, { referenceValue: name }], before: true },
      },
      readTime: time,
    });
  });

  it('of a query for all documents contains only the collection', () => {
    const query = { from: 'users', where: [], orderBy: [] };
    expect(decode('RunQueryRequest', encodeQueryRequest({ parent, query }))).toEqual({
      parent,
      structuredQuery: { from: [{ collectionId: 'users' }] },
    });
  });
});

describe('a response', () => {
  const document = { name, fields: values, createTime: time, updateTime: time };
  const decoded = { name, fields, updateTime: time };

  it('with a document has all of its fields and its version', () => {
    const query = encode('RunQueryResponse', { document, readTime: time, skippedResults: 3 });
    expect(decodeQueryResponse(query)).toEqual({ document: decoded });
    const get = encode('BatchGetDocumentsResponse', { found: document, readTime: time });
    expect(decodeBatchGetResponse(get)).toEqual({ found: decoded, readTime: time });
    expect(decodeDocumentMessage(encode('Document', document))).toEqual(decoded);
  });

  it('without a document has none', () => {
    expect(decodeQueryResponse(encode('RunQueryResponse', { readTime: time }))).toEqual({});
    const get = encode('BatchGetDocumentsResponse', { missing: name, readTime: time });
    expect(decodeBatchGetResponse(get)).toEqual({ readTime: time });
  });

  it('with values of other types has the fields without values, so that a read rejects them', () => {
    const others = {
      a: { doubleValue: 1.5 },
      b: { nullValue: 'NULL_VALUE' },
      c: { arrayValue: { values: [] } },
      d: { bytesValue: 'AAAA' },
    };
    const bytes = encode('Document', { name, fields: { ...others, ...values } });
    const expected = { a: undefined, b: undefined, c: undefined, d: undefined, ...fields };
    expect(decodeDocumentMessage(bytes).fields).toStrictEqual(expected);
  });
});
