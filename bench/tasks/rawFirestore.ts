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

/** Measures the ceiling for an export from Firestore: a stream of each collection, rendered as the same text. */
export async function rawFirestoreRead(address: DatabaseAddress): Promise<Measured> {
  const connection = connectToEmulator(address);
  const measured = await measure(async () => {
    const text = new RawText();
    for (const collection of ['users', 'userGrants', 'userMetadata']) await readAll(connection, collection, text);
    text.end();
    return text.users;
  });
  await connection.client.close();
  return measured;
}

function readAll({ client, parent, options }: FirestoreConnection, collectionId: string, text: RawText): Promise<void> {
  const fields = ['body', 'passwordHash', 'totpSeed'] as const;
  const structuredQuery = {
    from: [{ collectionId }],
    select: { fields: fields.map((fieldPath) => ({ fieldPath })) },
  };
  return new Promise((resolve, reject) => {
    const stream = client.runQuery({ parent, structuredQuery }, options);
    stream.on('data', ({ document }) => {
      if (document) text.add(decodeDocument(document, fields));
    });
    stream.on('error', reject);
    stream.on('end', resolve);
  });
}

function connectToEmulator(address: DatabaseAddress): FirestoreConnection {
  return connect(address, process.env.FIRESTORE_EMULATOR_HOST);
}
