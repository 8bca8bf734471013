import { describe, expect, it } from 'vitest';
import { scanInPasses } from '../../../shared/store/passes.ts';
import type { ScanRange, Snapshot, StoredDocument } from '../../../shared/store/store.ts';

const BATCH_SIZE = 2;

/** A store of 100 documents, each scan of which yields small batches of those that exist at its start. */
function storeOfDocuments() {
  let documents = Array.from({ length: 100 }, (_, number): StoredDocument => ({ id: String(number).padStart(3, '0') }));
  let open = 0;
  const opened: ScanRange[] = [];
  const snapshot = async (): Promise<Snapshot> => {
    open += 1;
    const present = documents;
    return {
      readTime: new Date(),
      getMany: async () => [],
      async *scan(range) {
        opened.push(range);
        const from = 'from' in range ? (range.from ?? '') : '';
        const found = present.filter(({ id }) => id >= from);
        for (let start = 0; start < found.length; start += BATCH_SIZE) yield found.slice(start, start + BATCH_SIZE);
      },
      [Symbol.asyncDispose]: async () => {
        open -= 1;
      },
    };
  };
  const change = (changed: readonly StoredDocument[]) => {
    documents = [...changed];
  };
  return { snapshot, opened, all: documents, change, present: () => documents, openSnapshots: () => open };
}

const range = { collection: 'users', partition: 'P', fields: ['body'] } as const;

describe('a scan in passes', () => {
  it('yields every document once, in the order of a scan, by several scans of the same range', async () => {
    const store = storeOfDocuments();
    const batches = await Array.fromAsync(scanInPasses(store, range));
    expect(batches.flat()).toEqual(store.all);
    expect(store.opened.length).toBeGreaterThan(2);
    for (const one of store.opened) expect(one).toMatchObject(range);
  });

  it('has no open snapshot while the caller handles a batch', async () => {
    const store = storeOfDocuments();
    for await (const _ of scanInPasses(store, range)) expect(store.openSnapshots()).toBe(0);
  });

  it('yields every document to a caller that deletes each batch', async () => {
    const store = storeOfDocuments();
    let yielded = 0;
    for await (const documents of scanInPasses(store, range)) {
      yielded += documents.length;
      store.change(store.present().filter((one) => !documents.includes(one)));
    }
    expect(yielded).toBe(store.all.length);
    expect(store.present()).toEqual([]);
  });

  it('yields a document that was created behind its position before the next pass', async () => {
    const store = storeOfDocuments();
    const yielded: string[] = [];
    for await (const documents of scanInPasses(store, range)) {
      if (yielded.length === 0) store.change([...store.all, { id: '999' }]);
      yielded.push(...documents.map(({ id }) => id));
    }
    expect(yielded.at(-1)).toBe('999');
  });

  it('of an empty range yields nothing', async () => {
    const store = storeOfDocuments();
    store.change([]);
    expect(await Array.fromAsync(scanInPasses(store, range))).toEqual([]);
  });
});
