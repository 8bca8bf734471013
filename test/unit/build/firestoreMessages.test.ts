import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import firestore from '@google-cloud/firestore';
import { protobuf } from 'google-gax';
import { expect, it } from 'vitest';
import { selectCalledMessages } from '../../../tools/build/firestoreMessages.ts';

const { resolve } = createRequire(import.meta.url);
const client = createRequire(resolve('@google-cloud/firestore'));

const service = 'google.firestore.v1.Firestore';
const schema = await readFile(client.resolve('@google-cloud/firestore-api/build/protos/protos.json'), 'utf8');
const whole = protobuf.Root.fromJSON(JSON.parse(schema));
const selected = protobuf.Root.fromJSON(JSON.parse(selectCalledMessages(schema)));

const name = 'projects/p/databases/(default)/documents/users/a';
const time = { seconds: 1, nanos: 2 };
const messages = {
  Commit: {
    database: 'projects/p/databases/(default)',
    writes: [
      {
        update: { name, fields: { body: { stringValue: 'a' }, sequence: { integerValue: 7 } } },
        updateMask: { fieldPaths: ['body'] },
        currentDocument: { updateTime: time },
      },
      { delete: name, currentDocument: { exists: false } },
    ],
  },
  BatchGetDocuments: { documents: [name], mask: { fieldPaths: ['__name__'] }, readTime: time },
  GetDocument: { name, mask: { fieldPaths: ['commit'] }, readTime: time },
  RunQuery: {
    parent: name,
    structuredQuery: {
      from: [{ collectionId: 'users' }],
      where: { fieldFilter: { field: { fieldPath: 'orgId' }, op: 5, value: { stringValue: 'a' } } },
      orderBy: [{ field: { fieldPath: '__name__' }, direction: 1 }],
      limit: { value: 500 },
    },
  },
};

it.each(Object.entries(messages))(
  'the selected messages encode a request of %s as the whole schema does',
  (method, message) => {
    const [expected, actual] = [whole, selected].map((root) => {
      const request = root
        .lookupService(service)
        .lookupType(root.lookupService(service).methods[method]?.requestType ?? '');
      return request.encode(request.fromObject(message)).finish();
    });
    expect(actual?.length).toBeGreaterThan(name.length);
    expect(actual).toEqual(expected);
  },
);

it('the selected schema has no messages of the administration and no methods that the store does not call', () => {
  expect(Object.keys(selected.lookupService(service).methods).sort()).toEqual(Object.keys(messages).sort());
  expect(selected.lookup('google.firestore.admin')).toBeNull();
});

it('a schema without a called method is rejected', () => {
  expect(() => selectCalledMessages('{"nested":{}}')).toThrow(/google\.firestore\.v1\.Firestore lacks one of/);
});

it('the client in bundles is the client that the sources load', () => {
  expect(client('@google-cloud/firestore-api/client_v1')).toEqual({ FirestoreClient: firestore.v1.FirestoreClient });
});
