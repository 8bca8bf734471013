import { createRequire } from 'node:module';
import firestore from '@google-cloud/firestore';
import { expect, it } from 'vitest';

const client = createRequire(createRequire(import.meta.url).resolve('@google-cloud/firestore'));

it('the client in bundles is the client that the sources load', () => {
  expect(client('@google-cloud/firestore-api/client_v1')).toEqual({ FirestoreClient: firestore.v1.FirestoreClient });
});
