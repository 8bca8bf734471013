import { Backoff } from '../../retry.ts';
import type { FieldName } from '../documentFields.ts';
import type { ScanRange, StoredDocument } from '../store.ts';
import { batches } from './batches.ts';
import {
  type DocumentMessage,
  documentName,
  type FirestoreConnection,
  type QueryRequest,
  type Timestamp,
} from './connection.ts';
import { toStoreError, transientPolicy } from './status.ts';
import { decodeDocument } from './values.ts';

interface QueryResponse {
  readonly document?: DocumentMessage | null;
}

const BATCH_SIZE = 500;

/** The start of a stream: at an id, or after it. */
interface Start {
  readonly id: string;
  readonly inclusive: boolean;
}

/**
 * Reads the documents of a range at `readTime` from one stream. Resumes a broken stream after the last document: the
 * server ends calls of slow consumers.
 */
export async function* scan(
  connection: FirestoreConnection,
  range: ScanRange,
  readTime: Timestamp,
): AsyncGenerator<readonly StoredDocument[]> {
  let start: Start | undefined = range.from === undefined ? undefined : { id: range.from, inclusive: true };
  const backoff = new Backoff(transientPolicy);
  for (;;) {
    try {
      for await (const documents of read(connection, range, readTime, start)) {
        yield documents;
        const last = documents.at(-1);
        if (last !== undefined) start = { id: last.id, inclusive: false };
        backoff.progressed();
      }
      return;
    } catch (reason) {
      if (!(await backoff.failed(reason))) throw toStoreError(reason);
    }
  }
}

async function* read(
  connection: FirestoreConnection,
  range: ScanRange,
  readTime: Timestamp,
  start: Start | undefined,
): AsyncGenerator<readonly StoredDocument[]> {
  const { client, parent, options } = connection;
  const structuredQuery = buildQuery(connection, range, start);
  const stream = client.runQuery({ parent, structuredQuery, readTime }, options);
  for await (const responses of batches<QueryResponse>(stream, BATCH_SIZE)) {
    // A response without a document carries only the read time.
    const documents = responses.flatMap(({ document }) => (document ? [decodeDocument(document, range.fields)] : []));
    if (documents.length > 0) yield documents;
  }
}

function buildQuery(
  { address }: FirestoreConnection,
  { collection, partition, to, fields }: ScanRange,
  start: Start | undefined,
): NonNullable<QueryRequest['structuredQuery']> {
  const cursor = (id: string, before: boolean) => ({
    values: [{ referenceValue: documentName(address, { collection, id }) }],
    before,
  });
  return {
    from: [{ collectionId: collection }],
    orderBy: [{ field: { fieldPath: '__name__' }, direction: 'ASCENDING' }],
    ...(partition !== undefined && { where: matchPartition(partition) }),
    ...(start !== undefined && { startAt: cursor(start.id, start.inclusive) }),
    ...(to !== undefined && { endAt: cursor(to, true) }),
    ...(fields !== undefined && { select: buildSelect(fields) }),
  };
}

function matchPartition(partition: string) {
  return {
    fieldFilter: { field: { fieldPath: 'partition' }, op: 'EQUAL', value: { stringValue: partition } },
  } as const;
}

// An empty selection would select all fields.
function buildSelect(fields: readonly FieldName[]) {
  return { fields: (fields.length === 0 ? ['__name__'] : fields).map((fieldPath) => ({ fieldPath })) };
}
