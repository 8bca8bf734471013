import { untilAborted } from '../../async.ts';
import { defined } from '../../defined.ts';
import { Backoff } from '../../retry.ts';
import { yieldToEventLoop } from '../../turns.ts';
import type { StoredRange } from '../database.ts';
import {
  type IdRange,
  PARTITION_SCAN_BATCH,
  type PartitionRange,
  SCANNED_CHARACTERS,
  type StoredDocument,
} from '../store.ts';
import { fromGrpcError, transientPolicy } from './call.ts';
import { decodeDocument, documentName, type FirestoreConnection, selectedPaths } from './firestoreConnection.ts';
import type { Cursor, DocumentMessage, Filter, Query, QueryResponse, Timestamp } from './messages.ts';
import { type ResponseStream, runQuery } from './methods.ts';

const DOCUMENTS_PER_BATCH = 500;

/**
 * A stream is closed if it is not read for this number of milliseconds. When the consumer continues, a new stream is
 * opened. Idle streams would prevent other requests, because a connection permits 100 streams and each export uses a
 * stream for each section.
 */
const MAX_IDLE_MS = 10_000;

/**
 * Reads the documents of a range at `readTime`. If the consumer is slow, the server may end the call; if the consumer
 * does not read for a while, this function closes the stream. In both cases, and after a temporary error, this function
 * opens a new stream that continues after the last received document.
 */
export async function* scanFirestore(
  connection: FirestoreConnection,
  range: StoredRange,
  readTime: Timestamp,
): AsyncGenerator<readonly StoredDocument[]> {
  let resumeAt: Cursor | undefined;
  const { deadline } = connection;
  const size = 'partitions' in range ? PARTITION_SCAN_BATCH : DOCUMENTS_PER_BATCH;
  const backoff = new Backoff(transientPolicy, deadline?.signal);
  for (;;) {
    let isIdle = false;
    try {
      const query = buildQuery(connection, range, resumeAt);
      const stream = readBatches(await runQuery(connection, { parent: connection.parent, query, readTime }), size);
      for await (const messages of deadline === undefined ? stream : untilAborted(stream, deadline.cut)) {
        using _idle = idleTimer(() => {
          isIdle = true;
          void stream.return(undefined);
        });
        yield messages.map((message) => decodeDocument(message, range.fields));
        resumeAt = cursorAfter(range, messages.at(-1)) ?? resumeAt;
        backoff.progressed();
      }
      if (!isIdle) return;
    } catch (reason) {
      if (!(await backoff.failed(reason))) throw fromGrpcError(reason);
    }
  }
}

function idleTimer(onExpired: () => void): Disposable {
  const timeout = setTimeout(onExpired, MAX_IDLE_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timeout) };
}

interface Inbox {
  documents: DocumentMessage[];
  characters: number;
  end?: { readonly error?: unknown };
}

/**
 * Yields the documents of a query in batches of at most `size`, or in smaller batches if the documents are large.
 * Receives no more than one batch in advance. Cancels the call when the consumer stops. If the call fails, first yields
 * the documents received before the error.
 */
export async function* readBatches(stream: ResponseStream, size: number): AsyncGenerator<DocumentMessage[]> {
  const inbox: Inbox = { documents: [], characters: 0 };
  let wake = () => {};
  const isReady = () =>
    inbox.end !== undefined || inbox.documents.length >= size || inbox.characters >= SCANNED_CHARACTERS;
  const finish = (end: NonNullable<Inbox['end']>) => {
    inbox.end ??= end;
    wake();
  };
  stream.on('error', (error: unknown) => finish({ error }));
  stream.on('end', () => finish({}));
  stream.on('data', ({ document }: QueryResponse) => {
    if (document === undefined) return;
    inbox.documents.push(document);
    inbox.characters += countCharacters(document);
    if (!isReady()) return;
    stream.pause();
    wake();
  });
  try {
    for (;;) {
      const arrived = Promise.withResolvers<void>();
      wake = arrived.resolve;
      if (!isReady()) await arrived.promise;
      const { documents } = inbox;
      inbox.documents = [];
      inbox.characters = 0;
      stream.resume();
      // Yield to the event loop between batches. Otherwise all batches that are already in the connection's window
      // would be processed without a pause for other work.
      await yieldToEventLoop();
      if (documents.length > 0) yield documents;
      if (inbox.documents.length > 0 || inbox.end === undefined) continue;
      if ('error' in inbox.end) throw inbox.end.error;
      return;
    }
  } finally {
    stream.cancel();
    stream.destroy();
  }
}

function countCharacters({ fields }: DocumentMessage): number {
  let characters = 0;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string') characters += value.length;
  }
  return characters;
}

/** @param resumeAt the position at which to continue; if absent, the query begins at the start of the range */
function buildQuery(connection: FirestoreConnection, range: StoredRange, resumeAt: Cursor | undefined): Query {
  const { collection, fields } = range;
  return {
    from: collection,
    ...('partitions' in range ? selectPartitions(range.partitions) : selectIds(connection, range)),
    ...defined({ startAt: resumeAt }),
    select: selectedPaths('partitions' in range ? ['partition', ...fields] : fields),
  };
}

type Selection = Pick<Query, 'orderBy' | 'where' | 'startAt'>;

function selectIds(connection: FirestoreConnection, { collection, partition, from }: IdRange): Selection {
  return {
    orderBy: ['__name__'],
    where: partition === undefined ? [] : [partitionFilter('EQUAL', partition)],
    ...(from === undefined
      ? {}
      : { startAt: { texts: [], name: documentName(connection, { collection, id: from }), before: true } }),
  };
}

// The index on `partition` sorts the documents of a partition by name, so this query needs no composite index.
function selectPartitions({ from, to }: PartitionRange['partitions']): Selection {
  return {
    orderBy: ['partition', '__name__'],
    where: [partitionFilter('GREATER_THAN_OR_EQUAL', from), partitionFilter('LESS_THAN', to)],
  };
}

function partitionFilter(op: Filter['op'], value: string): Filter {
  return { field: 'partition', op, value };
}

function cursorAfter(range: StoredRange, document: DocumentMessage | undefined): Cursor | undefined {
  if (document === undefined) return undefined;
  const { name, fields } = document;
  return { texts: 'partitions' in range ? [String(fields.partition)] : [], name, before: false };
}
