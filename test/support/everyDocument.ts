import { collections, type Store, type StoredDocument } from '../../shared/store/store.ts';

/** All that is in a store, by `<collection>/<id>`. */
export async function everyDocument(store: Store): Promise<Map<string, StoredDocument>> {
  const all = new Map<string, StoredDocument>();
  const snapshot = await store.snapshot();
  try {
    for (const collection of collections) {
      for await (const documents of snapshot.scan({ collection })) {
        for (const document of documents) all.set(`${collection}/${document.id}`, document);
      }
    }
  } finally {
    await snapshot.close();
  }
  return all;
}
