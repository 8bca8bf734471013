import type { CancellableStream } from 'google-gax';
import type { Collection } from '../store.ts';
import { attemptUntil } from './call.ts';
import type { FirestoreConnection, ValueMessage } from './connection.ts';
import { toStoreError, transientPolicy } from './status.ts';

interface CountResponse {
  readonly result?: { readonly aggregateFields?: Readonly<Record<string, ValueMessage>> | null } | null;
}

/** Counts a collection's documents, up to `limit`. Billed as one read for each thousand. */
export async function countDocuments(
  { client, parent, options, deadline }: FirestoreConnection,
  collection: Collection,
  limit: number,
): Promise<number> {
  const structuredAggregationQuery = {
    structuredQuery: { from: [{ collectionId: collection }] },
    aggregations: [{ alias: 'documents', count: { upTo: { value: limit } } }],
  };
  try {
    return await attemptUntil(deadline, transientPolicy, () =>
      readCount(client.runAggregationQuery({ parent, structuredAggregationQuery }, options)),
    );
  } catch (reason) {
    throw toStoreError(reason);
  }
}

function readCount(stream: CancellableStream): Promise<number> {
  return new Promise((resolve, reject) => {
    let count: number | undefined;
    stream.on('data', ({ result }: CountResponse) => {
      count = Number(result?.aggregateFields?.documents?.integerValue ?? count);
    });
    stream.on('error', reject);
    stream.on('end', () =>
      count === undefined ? reject(new Error('the database returned no number of documents')) : resolve(count),
    );
  });
}
