import { randomUUID } from 'node:crypto';
import { CRC32C } from '@google-cloud/storage';
import { objectReplaced } from '../../shared/errors/storageErrors.ts';
import type { TransferFacts, TransferKind, Transfers } from '../../shared/objectStorage/transfers.ts';
import { collect, inPieces } from './fixtures/bytes.ts';

const ORIGIN = 'https://transfers.test/';

interface StoredTransfer {
  readonly bytes: Buffer;
  readonly facts: TransferFacts;
  readonly generation: string;
}

/** A bucket for transfers in memory, with the actions of its clients, which have no token. */
export interface MemoryTransfers extends Transfers {
  /** The stored objects, by their paths. */
  readonly objects: ReadonlyMap<string, StoredTransfer>;
  /** The addresses that the bucket has issued. */
  readonly addresses: readonly string[];
  /** Downloads the file at a signed URL. */
  download(url: string): Buffer;
  /** Sends a file to the address of an upload. The upload is complete if the file has the declared size. */
  send(uri: string, bytes: Uint8Array): void;
  /** Replaces an object with an object of another generation. */
  replace(path: string, bytes: Uint8Array): void;
}

/** Creates a bucket for transfers in memory. */
export function memoryTransfers(): MemoryTransfers {
  const objects = new Map<string, StoredTransfer>();
  const uploads = new Map<string, { readonly path: string; readonly facts: TransferFacts; readonly size: number }>();
  const addresses: string[] = [];
  let generations = 0;
  const put = (path: string, bytes: Buffer, facts: TransferFacts) => {
    const stored = { bytes, facts, generation: String(++generations) };
    objects.set(path, stored);
    return stored;
  };
  const address = (path: string) => {
    const url = `${ORIGIN}${path}?signature=${randomUUID()}`;
    addresses.push(url);
    return url;
  };
  const locate = (kind: TransferKind, id: string) => ({ bucket: 'transfers', path: `${kind}/${id}` });
  return {
    objects,
    addresses,
    async write(id, facts, content) {
      const location = locate('exports', id);
      const { bytes, generation } = put(location.path, await collect(content), facts);
      const crc32c = new CRC32C();
      crc32c.update(bytes);
      return { ...location, generation, size: bytes.length, crc32c: crc32c.toString() };
    },
    downloadUrl: async ({ path }) => address(path),
    async openUpload(id, { facts, size }) {
      const { path } = locate('imports', id);
      const uri = address(path);
      uploads.set(uri, { path, facts, size });
      return { uri, expiresAt: new Date(Date.now() + 60_000) };
    },
    async find(kind, id) {
      const location = locate(kind, id);
      const stored = objects.get(location.path);
      if (stored === undefined) return undefined;
      const { bytes, facts, generation } = stored;
      async function* read() {
        if (objects.get(location.path)?.generation !== generation) throw objectReplaced({ at: location.path });
        yield* inPieces(bytes);
      }
      return { ...location, facts, generation, size: bytes.length, read };
    },
    async delete(kind, id, generation) {
      const { path } = locate(kind, id);
      if (objects.get(path)?.generation === generation) objects.delete(path);
    },
    download(url) {
      const stored = objects.get(new URL(url).pathname.slice(1));
      if (!addresses.includes(url) || stored === undefined) throw new Error(`nothing at ${url}`);
      return stored.bytes;
    },
    send(uri, bytes) {
      const upload = uploads.get(uri);
      if (upload === undefined) throw new Error(`no upload at ${uri}`);
      if (bytes.length === upload.size) put(upload.path, Buffer.from(bytes), upload.facts);
    },
    replace(path, bytes) {
      const stored = objects.get(path);
      if (stored === undefined) throw new Error(`no object ${path}`);
      put(path, Buffer.from(bytes), stored.facts);
    },
  };
}
