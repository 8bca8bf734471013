import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBodyStorage } from '../../../shared/http/bodyStorage.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';

const SECRET = '$2a$10$hash-of-a-password';
const content = Buffer.from(`${SECRET},`.repeat(20_000));

/** Stores the content in a temporary file, in chunks of an odd size. */
async function stored(directory: string) {
  const storage = createBodyStorage({ memoryBytes: 0, directory });
  for (let position = 0; position < content.byteLength; position += 70_001)
    await storage.append(content.subarray(position, position + 70_001));
  return storage.finish();
}

async function read(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a body in a temporary file', () => {
  it.each([
    [0, undefined],
    [1, 2],
    [15, 17],
    [65_537, 200_003],
  ])('is read from %i to %s', async (start, end) => {
    const body = await stored(await testDirectory());
    expect((await read(body.open(start, end))).equals(content.subarray(start, end))).toBe(true);
    await body.close();
  });

  it.skipIf(process.platform !== 'linux')('is encrypted there, and has no name', async () => {
    const directory = await testDirectory();
    const body = await stored(directory);
    expect(await readdir(directory)).toEqual([]);
    const open = await readdir('/proc/self/fd');
    const targets = await Promise.all(open.map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')));
    const files = open.filter((_, index) => targets[index]?.startsWith(directory));
    expect(files).toHaveLength(1);
    const bytes = await readFile(join('/proc/self/fd', files[0] ?? ''));
    expect(bytes.byteLength).toBe(content.byteLength);
    expect(bytes.includes(SECRET)).toBe(false);
    await body.close();
  });
});
