import { expect, it } from 'vitest';
import {
  connectFirestore,
  decodeDocument,
  documentName,
} from '../../../../shared/store/firestore/firestoreConnection.ts';

it('names of documents distribute consecutive ids, and can be converted back to them', () => {
  const connection = connectFirestore({ projectId: 'p', databaseId: 'd' }, '127.0.0.1:1');
  const ids = Array.from({ length: 2_000 }, (_, index) => String(370_000_000_000_000_000n + BigInt(index)));
  const names = ids.map((id) => documentName(connection, { collection: 'users', id }));
  expect(names[0]).toMatch(/^projects\/p\/databases\/d\/documents\/users\/[0-9a-f]{2}~370000000000000000$/);
  expect(new Set(names.map((name) => name.slice(0, -'~370000000000000000'.length))).size).toBe(256);
  expect(names.map((name) => decodeDocument({ name, fields: {} }, []).id)).toEqual(ids);
});
