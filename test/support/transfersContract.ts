import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Transfers } from '../../shared/objectStorage/transfers.ts';
import { collect, digest, inPieces } from './fixtures/bytes.ts';

const never = new AbortController().signal;
const MIB = 1024 * 1024;
const facts = { instanceId: 'north', userId: 'auth0|owner-ä' };

/** Sends bytes to an upload: all of them, or a range. */
export function put(uri: string, bytes: Uint8Array, range?: string): Promise<Response> {
  const headers = range === undefined ? {} : { 'content-range': `bytes ${range}` };
  return fetch(uri, { method: 'PUT', body: new Uint8Array(bytes), headers, redirect: 'manual' });
}

/** The contract of every bucket for transfers, independent of the server. */
export function describeTransfersContract(get: () => Transfers): void {
  it('returns a written export with its facts, and deletes it', async () => {
    const bytes = randomBytes(300_000);
    const written = await get().write('written', facts, inPieces(bytes), never);
    expect(written).toMatchObject({ path: 'exports/written', size: 300_000 });
    const found = await get().find('exports', 'written', never);
    expect(found).toMatchObject({ ...location('exports', 'written'), facts, generation: written.generation });
    expect(digest(await collect(found?.read(never) ?? inPieces(Buffer.of())))).toBe(digest(bytes));
    await get().delete('exports', 'written', written.generation, never);
    expect(await get().find('exports', 'written', never)).toBeUndefined();
  });

  it('finds an upload with its facts when it is complete, not before', async () => {
    const bytes = randomBytes(2 * MIB);
    const { uri } = await get().openUpload('whole', { facts, size: bytes.length }, never);
    expect(await get().find('imports', 'whole', never)).toBeUndefined();
    expect((await put(uri, bytes.subarray(0, MIB), `0-${MIB - 1}/${2 * MIB}`)).status).toBe(308);
    expect(await get().find('imports', 'whole', never)).toBeUndefined();
    expect((await put(uri, bytes.subarray(MIB), `${MIB}-${2 * MIB - 1}/${2 * MIB}`)).status).toBe(200);
    const found = await get().find('imports', 'whole', never);
    expect(found).toMatchObject({ ...location('imports', 'whole'), facts, size: 2 * MIB });
    expect(digest(await collect(found?.read(never) ?? inPieces(Buffer.of())))).toBe(digest(bytes));
  });

  it('keeps the first upload when its address is used twice', async () => {
    const { uri } = await get().openUpload('twice', { facts, size: 5 }, never);
    await put(uri, Buffer.from('first'));
    const first = await get().find('imports', 'twice', never);
    await put(uri, Buffer.from('other'));
    expect(await get().find('imports', 'twice', never)).toMatchObject({ generation: first?.generation });
    expect((await collect(first?.read(never) ?? inPieces(Buffer.of()))).toString()).toBe('first');
  });

  it('never reads another generation than the pinned one', async () => {
    const { uri } = await get().openUpload('pinned', { facts, size: 5 }, never);
    await put(uri, Buffer.from('first'));
    const found = await get().find('imports', 'pinned', never);
    await get().delete('imports', 'pinned', found?.generation ?? '', never);
    const { uri: second } = await get().openUpload('pinned', { facts, size: 5 }, never);
    await put(second, Buffer.from('other'));
    const reading = collect(found?.read(never) ?? inPieces(Buffer.of()));
    await expect(reading).rejects.toMatchObject({ reason: 'OBJECT_REPLACED' });
  });

  it.each([
    ['fewer', '1234'],
    ['more', '123456'],
  ])('finds no upload of %s bytes than its size', async (name, bytes) => {
    const { uri } = await get().openUpload(name, { facts, size: 5 }, never);
    await put(uri, Buffer.from(bytes));
    expect(await get().find('imports', name, never)).toBeUndefined();
  });

  it('deletes no other generation than the named one', async () => {
    const written = await get().write('deleted', facts, inPieces(Buffer.from('x')), never);
    const deleting = get().delete('exports', 'deleted', '1', never);
    await expect(deleting).rejects.toMatchObject({ reason: 'OBJECT_NOT_FOUND' });
    expect(await get().find('exports', 'deleted', never)).toMatchObject({ generation: written.generation });
  });
}

const location = (kind: string, id: string) => ({ path: `${kind}/${id}` });
