import { readFile } from 'node:fs/promises';
import { createCloudStorage } from '../../../../shared/objectStorage/cloudStorage.ts';
import { readServiceAccount } from '../../../../shared/objectStorage/serviceAccount.ts';

// Runs as a separate process, so that its memory is the client's alone: writes an object of MIB and reads it back.
// Prints {"writeMBps","readMBps","rssGrowth"}, the last in bytes. STORAGE_EMULATOR_HOST is the target.

const [keyFile = '', mib = '200'] = process.argv.slice(2);
const account = readServiceAccount(Buffer.from(await readFile(keyFile)).toString('base64'), '');
const signal = new AbortController().signal;
const bucket = createCloudStorage();

let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10).unref();

async function transfer(path: string, size: number): Promise<{ write: number; read: number }> {
  const begin = performance.now();
  await bucket.write({ bucket: 'exports', path, account }, zeros(size), signal);
  const middle = performance.now();
  const pinned = await bucket.pin({ bucket: 'exports', path, account }, signal);
  let received = 0;
  for await (const piece of pinned.read(signal)) {
    received += piece.length;
  }
  if (received !== size) throw new Error(`read ${received} of ${size} bytes`);
  return { write: rate(size, middle - begin), read: rate(size, performance.now() - middle) };
}

async function* zeros(size: number): AsyncGenerator<Uint8Array, void, void> {
  const piece = Buffer.alloc(64 * 1024);
  for (let left = size; left > 0; left -= piece.length) {
    yield piece.subarray(0, Math.min(left, piece.length));
  }
}

const rate = (bytes: number, ms: number) => Math.round(bytes / 1000 / ms);

// The first transfer loads and compiles everything; only the additional memory of a larger object counts as growth.
await transfer('small', 20 * 1024 * 1024);
const before = process.memoryUsage.rss();
peak = 0;
const { write, read } = await transfer('large', Number(mib) * 1024 * 1024);
process.stdout.write(JSON.stringify({ writeMBps: write, readMBps: read, rssGrowth: peak - before }));
