import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCloudStorage, openStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { collect, digest, inPieces } from '../../support/fixtures/bytes.ts';
import { startTcpProxy, type TcpProxy } from '../../support/http/tcpProxy.ts';

const never = new AbortController().signal;
const mib = 1024 * 1024;

describe('a transfer over an unreliable network', () => {
  let local: LocalBucket;
  let network: TcpProxy;
  beforeEach(async () => {
    local = await startLocalBucket();
    network = await startTcpProxy(local.url);
  });
  afterEach(async () => {
    await network.close();
    await local.close();
  });

  const bucket = () => createCloudStorage(network.url);
  const at = (path: string) => ({ bucket: 'exports', path, account: local.account });
  const pinWritten = async (bytes: Uint8Array) => {
    await bucket().write(at('object'), inPieces(bytes), never);
    return bucket().pin(at('object'), never);
  };

  it('survives any number of broken connections, as long as bytes arrive between them', async () => {
    const bytes = randomBytes(10 * mib);
    const pinned = await pinWritten(bytes);
    const pieces: Uint8Array[] = [];
    let breaks = 0;
    for await (const piece of pinned.read(never)) {
      pieces.push(Buffer.from(piece));
      const received = pieces.reduce((sum, { length }) => sum + length, 0);
      if (received > breaks * mib && breaks < 8) {
        breaks++;
        network.cut('down', 1000);
      }
    }
    expect(digest(Buffer.concat(pieces))).toBe(digest(bytes));
    expect(breaks).toBe(8);
  });

  it('continues writing at the position where the connection broke', async () => {
    const bytes = randomBytes(20 * mib);
    network.cut('up', 11 * mib);
    await bucket().write(at('object'), inPieces(bytes), never);
    const pinned = await bucket().pin(at('object'), never);
    expect(digest(await collect(pinned.read(never)))).toBe(digest(bytes));
  });

  it('recognises a written object when the last response was lost', async () => {
    const written = await bucket().write(at('object'), thenCutAnswer(), never);
    const pinned = await bucket().pin(at('object'), never);
    expect(written).toMatchObject({ generation: pinned.generation, size: 5 });
  });

  it('returns the object if it was complete before the abort', async () => {
    // The bucket answers the cancellation, however slow the machine is.
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(never);
    onTestFinished(() => timeout.mockRestore());
    const abort = new AbortController();
    const content = async function* () {
      yield Buffer.from('bytes');
      network.stall('down', 0);
    };
    const writing = bucket().write(at('object'), content(), abort.signal);
    const direct = createCloudStorage(local.url);
    await expect.poll(() => direct.pin(at('object'), never).catch(() => 'not yet')).not.toBe('not yet');
    abort.abort(new Error('too late'));
    expect(await writing).toMatchObject({ size: 5 });
  });

  async function* thenCutAnswer(): AsyncGenerator<Uint8Array, void, void> {
    yield Buffer.from('bytes');
    network.cut('down', 0);
  }

  it('detects bytes that were changed during the download', async () => {
    const pinned = await pinWritten(randomBytes(2 * mib));
    network.corrupt('down', mib);
    await expect(collect(pinned.read(never))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('checksum'),
    });
  });

  it('detects bytes that were changed during the upload, and leaves nothing', async () => {
    const content = async function* () {
      yield randomBytes(2 * mib);
      network.corrupt('up', mib);
    };
    const written = bucket().write(at('object'), content(), never);
    await expect(written).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('checksum') });
    await expect(bucket().pin(at('object'), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('stops a stalled write at once when it is aborted, and closes its content', async () => {
    const abort = new AbortController();
    const reason = new Error('out of time');
    let closed = false;
    const content = async function* () {
      try {
        for (let n = 0; n < 64; n++) {
          yield randomBytes(mib);
          if (n === 9) setTimeout(() => abort.abort(reason), 100);
        }
      } finally {
        closed = true;
      }
    };
    network.stall('up', 2 * mib);
    await expect(bucket().write(at('object'), content(), abort.signal)).rejects.toBe(reason);
    expect(closed).toBe(true);
  });

  it('stops a stalled read at once when it is aborted', async () => {
    const pinned = await pinWritten(randomBytes(4 * mib));
    const abort = new AbortController();
    const reason = new Error('out of time');
    network.stall('down', mib);
    void network.struck().then(() => abort.abort(reason));
    await expect(collect(pinned.read(abort.signal))).rejects.toBe(reason);
  });

  it('ends the request when the reader stops early', async () => {
    const pinned = await pinWritten(randomBytes(16 * mib));
    const before = network.ended();
    for await (const _ of pinned.read(never)) break;
    await expect.poll(() => network.ended()).toBe(before + 1);
  });

  it('fails when the pinned generation has been replaced', async () => {
    const pinned = await pinWritten(Buffer.from('first'));
    const file = openStorage(local.account, 'write', local.url).bucket('exports').file('object');
    await file.delete();
    await pinWritten(Buffer.from('second'));
    await expect(collect(pinned.read(never))).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('fails when the object is replaced in the middle of a read whose connection breaks', async () => {
    const pinned = await pinWritten(randomBytes(8 * mib));
    const file = openStorage(local.account, 'write', local.url).bucket('exports').file('object');
    const received: Uint8Array[] = [];
    const reading = (async () => {
      for await (const piece of pinned.read(never)) {
        if (received.length === 0) {
          await file.delete();
          await createCloudStorage(local.url).write(at('object'), inPieces(randomBytes(mib)), never);
          network.cut('down', mib);
        }
        received.push(piece);
      }
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'ABORTED',
      httpStatus: 409,
      message: expect.stringContaining(
        'the object was replaced or deleted during the import: upload the same file again',
      ),
    });
  });

  it('continues with the pinned generation when the object is replaced and the connection holds', async () => {
    const bytes = randomBytes(8 * mib);
    const pinned = await pinWritten(bytes);
    const file = openStorage(local.account, 'write', local.url).bucket('exports').file('object');
    const pieces: Uint8Array[] = [];
    for await (const piece of pinned.read(never)) {
      if (pieces.length === 0) await file.delete();
      pieces.push(Buffer.from(piece));
    }
    expect(digest(Buffer.concat(pieces))).toBe(digest(bytes));
  });

  it('shows nothing of an object before its last byte has been sent', async () => {
    const direct = createCloudStorage(local.url);
    let looks = 0;
    const content = async function* () {
      for (let sent = 0; sent < 20; sent++) {
        yield randomBytes(mib);
        await expect(direct.pin(at('object'), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
        looks++;
      }
    };
    const written = await bucket().write(at('object'), content(), never);
    expect(looks).toBe(20);
    expect(await direct.pin(at('object'), never)).toMatchObject({ generation: written.generation, size: 20 * mib });
  });

  it('continues reading at the position where the connection broke, and requests only the missing bytes', async () => {
    const bytes = randomBytes(8 * mib);
    const pinned = await pinWritten(bytes);
    const before = network.bytes('down');
    const connections = network.connections();
    network.cut('down', 6 * mib);
    expect(digest(await collect(pinned.read(never)))).toBe(digest(bytes));
    expect(network.connections()).toBeGreaterThan(connections);
    // Room for the bytes in the buffers of the broken connection.
    expect(network.bytes('down') - before).toBeLessThan(10 * mib);
  });

  it('reports that Cloud Storage does not respond if it cannot be reached', async () => {
    await network.close();
    await expect(bucket().pin(at('object'), never)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
