import { connectFirestore, type FirestoreConnection } from '../../shared/store/firestore/firestoreConnection.ts';
import { type DocumentMessage, encodeCommit } from '../../shared/store/firestore/messages.ts';
import { commitWrites, runQuery } from '../../shared/store/firestore/methods.ts';
import { readBatches } from '../../shared/store/firestore/scan.ts';

// Measures the speed of Firestore's client without the service, with the documents that the service has stored. `node
// tools/bench/firestoreLoops.ts PROJECT NEW-PROJECT` prints one line of JSON.

const recordCollections = ['users', 'userGrants', 'userMetadata'];
const SCANS = 5;
const DOCUMENTS_PER_COMMIT = 500;
const COMMITS_IN_FLIGHT = 8;

async function scan(collection: string): Promise<readonly DocumentMessage[]> {
  const query = { from: collection, where: [], orderBy: [] };
  const documents: DocumentMessage[] = [];
  const stream = await runQuery(source, { parent: source.parent, query });
  for await (const batch of readBatches(stream, DOCUMENTS_PER_COMMIT)) documents.push(...batch);
  return documents;
}

async function write(documents: readonly DocumentMessage[]): Promise<void> {
  const { database, parent } = target;
  const writes = documents.map(({ name, fields }) => ({
    update: { name: `${parent}${name.slice(source.parent.length)}`, fields },
    currentDocument: { exists: false },
  }));
  const commitNext = async () => {
    for (let batch = writes.splice(0, DOCUMENTS_PER_COMMIT); batch.length > 0; ) {
      await commitWrites(target, encodeCommit({ database, writes: batch }));
      batch = writes.splice(0, DOCUMENTS_PER_COMMIT);
    }
  };
  await Promise.all(Array.from({ length: COMMITS_IN_FLIGHT }, commitNext));
}

/** Returns the duration of the work in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

function connect(projectId: string | undefined): FirestoreConnection {
  return connectFirestore({ projectId: projectId ?? '', databaseId: '(default)' }, process.env.FIRESTORE_EMULATOR_HOST);
}

const [, , project, newProject] = process.argv;
const source = connect(project);
const target = connect(newProject);
const claims = await scan('claims');
let records: readonly DocumentMessage[] = [];
const scanning = await timed(async () => {
  for (let count = 0; count < SCANS; count++) records = (await Promise.all(recordCollections.map(scan))).flat();
});
const written = await timed(() => write([...records, ...claims]));
process.stdout.write(`${JSON.stringify({ read: scanning / SCANS, write: written })}\n`);
await Promise.all([source, target].map(({ client }) => client.close()));
