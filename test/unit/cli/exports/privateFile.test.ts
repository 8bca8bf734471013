import { expect, it } from 'vitest';
import { undisposed } from '../../../../cli/exports/fileContent.ts';
import { openPrivateFile } from '../../../../cli/exports/privateFile.ts';

const { signal } = new AbortController();
const BYTES = Buffer.from(`{"orgs":[${' '.repeat(500_000)}]}`);

async function* pieces(end: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < end; position += 65_536) yield BYTES.subarray(position, position + 65_536);
  if (end < BYTES.byteLength) throw new Error('the connection was lost');
}

const contentOf = (end: number) => {
  const open = () => pieces(end);
  return { isRepeatable: false, open, once: { open }, ...undisposed };
};

async function read(bytes: AsyncIterable<Uint8Array> = pieces(0)): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

it('an export that is stored while it is read has a copy only after a complete reading', async () => {
  await using file = openPrivateFile('the export');
  await expect(read(file.storing(contentOf(200_000)).once?.open(signal))).rejects.toThrow('lost');
  await expect(file.readExport()).rejects.toThrow('the export is not stored');
  expect((await read(file.storing(contentOf(BYTES.byteLength)).once?.open(signal))).equals(BYTES)).toBe(true);
  const stored = await file.readExport();
  for (let readings = 0; readings < 2; readings++) expect((await read(stored.open(signal))).equals(BYTES)).toBe(true);
});
