import type { FirestoreConnection } from './client.ts';

// The client's package does not export the types of its messages by name, so they are taken off its methods.

type Client = FirestoreConnection['client'];

/** Parameters of the call `BatchGetDocuments`. */
export type BatchGetRequest = NonNullable<Parameters<Client['batchGetDocuments']>[0]>;
/** Parameters of the call `RunQuery`. */
export type QueryRequest = NonNullable<Parameters<Client['runQuery']>[0]>;
/** One write of a commit. */
export type WriteMessage = NonNullable<NonNullable<NonNullable<Parameters<Client['commit']>[0]>['writes']>[number]>;
/** A stored document. */
export type DocumentMessage = NonNullable<WriteMessage['update']>;
/** A field's value. */
export type ValueMessage = NonNullable<DocumentMessage['fields']>[string];
/** A moment as the server tells it. */
export type Timestamp = NonNullable<QueryRequest['readTime']>;
/** A transaction's id. */
export type TransactionId = NonNullable<BatchGetRequest['transaction']>;
