/**
 * The methods of Firestore's client that the store calls. A bundle contains only the codecs of these methods
 * (`tools/build/firestoreMessages.ts`), so the type of the connection permits no other method.
 */
export const calledMethods = ['batchGetDocuments', 'commit', 'getDocument', 'runQuery'] as const;
