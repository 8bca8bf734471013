import {
  connect,
  type DatabaseAddress,
  decodeDocument,
  documentName,
  encodeFields,
  type FirestoreConnection,
  type WriteMessage,
} from '../../shared/store/firestore/connection.ts';
import { RawText } from './rawText.ts';
import { sampleWrites } from './sample.ts';
import { type Measured, measure } from './task.ts';

const WRITES_PER_COMMIT = 500;
/** As in an import. */
const COMMITS_IN_FLIGHT = 4;

/** Measures the ceiling for an import into Firestore: its writes alone, by the generated client. */
export async function rawFirestoreWrite(address: DatabaseAddress, users: number): Promise<Measured> {
  const connection = connectToEmulator(address);
  const commits = sampleWrites(users, WRITES_PER_COMMIT).map((batch) =>
    batch.map(({ key, fields }): WriteMessage => {
      const update = { name: documentName(connection, key), fields: encodeFields(fields) };
      return { update, currentDocument: { exists: false } };
    }),
  );
  const measured = await measure(async () => {
    await Promise.all(Array.from({ length: COMMITS_IN_FLIGHT }, () => commitAll(connection, commits)));
    return users;
  });
  await connection.client.close();
  return measured;
}

async function commitAll({ client, database, options }: FirestoreConnection, commits: WriteMessage[][]): Promise<void> {
  for (let writes = commits.pop(); writes !== undefined; writes = commits.pop()) {
    await client.commit({ database, writes }, options);
  }
}

/** Measures the ceiling for an export from Firestore: one stream of all users, rendered as the same text. */
export async function rawFirestoreRead(address: DatabaseAddress): Promise<Measured> {
  const connection = connectToEmulator(address);
  const { client, parent, options } = connection;
  const structuredQuery = {
    from: [{ collectionId: 'users' }],
    select: { fields: ['body', 'passwordHash', 'totpSeed'].map((fieldPath) => ({ fieldPath })) },
  };
  const measured = await measure(
    () =>
      new Promise<number>((resolve, reject) => {
        const text = new RawText();
        const stream = client.runQuery({ parent, structuredQuery }, options);
        stream.on('data', ({ document }) => {
          if (document) text.add(decodeDocument(document, ['body', 'passwordHash', 'totpSeed']));
        });
        stream.on('error', reject);
        stream.on('end', () => {
          text.end();
          resolve(text.users);
        });
      }),
  );
  await client.close();
  return measured;
}

function connectToEmulator(address: DatabaseAddress): FirestoreConnection {
  return connect(address, process.env.FIRESTORE_EMULATOR_HOST);
}
