import { describe, expect, it } from 'vitest';
import { createExportResponse } from '../../../functions/export/response.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';

const document = Buffer.from('{"orgs":[]}'.padEnd(300_000));

/** The resources of a response, and whether they are still open. */
function held() {
  const stack = new AsyncDisposableStack();
  const controller = new AbortController();
  const ends: unknown[] = [];
  const end = async (error?: unknown) => void ends.push(error);
  const redirect = async (file: AsyncIterable<Uint8Array>, endCall: () => Promise<void>) => {
    const bytes = Buffer.concat(await Array.fromAsync(file));
    // The end of the call must still be able to end a redirection.
    expect(stack.disposed).toBe(false);
    await endCall();
    return new Response(bytes);
  };
  const resources = { held: stack, signal: controller.signal, audited: { end }, redirect };
  return { open: () => !stack.disposed, controller, resources, ends };
}

describe('the response of an export', () => {
  it('is streamed if there is no limit, and releases the database with its last byte', async () => {
    const { open, resources } = held();
    const response = await createExportResponse(inPieces(document), Number.POSITIVE_INFINITY, resources);
    expect(response.headers.get('content-length')).toBeNull();
    expect(open()).toBe(true);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(document);
    expect(open()).toBe(false);
  });

  it('releases the database when its reader leaves in the middle', async () => {
    const { open, resources } = held();
    const response = await createExportResponse(inPieces(document), Number.POSITIVE_INFINITY, resources);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(64 * 1024);
    await reader?.cancel();
    expect(open()).toBe(false);
  });

  it('ends with the call while its body is not read, and releases the database', async () => {
    const { open, controller, resources } = held();
    const response = await createExportResponse(inPieces(document), Number.POSITIVE_INFINITY, resources);
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort(new Error('revoked'));
    await expect(reader?.closed).rejects.toThrow('revoked');
    expect(open()).toBe(false);
  });

  it('has a recorded reason if it ends before its last byte', async () => {
    const { controller, resources, ends } = held();
    async function* neverEnding() {
      yield document;
      await new Promise<never>(() => {});
    }
    const response = await createExportResponse(neverEnding(), Number.POSITIVE_INFINITY, resources);
    const reader = response.body?.getReader();
    await reader?.read();
    const reading = reader?.read();
    controller.abort('revoked');
    await expect(reading).rejects.toBe('revoked');
    expect(ends[0]).toBe('revoked');
  });

  it('is held back if there is a limit, until it is complete and its length is known', async () => {
    const { open, resources } = held();
    const response = await createExportResponse(inPieces(document), document.length, resources);
    expect(open()).toBe(false);
    expect(response.headers.get('content-length')).toBe(String(document.length));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(document);
  });

  it('that is complete when the call ends is not sent', async () => {
    const { open, controller, resources } = held();
    async function* endingMeanwhile() {
      yield document;
      controller.abort(new Error('revoked'));
    }
    await expect(createExportResponse(endingMeanwhile(), document.length, resources)).rejects.toThrow('revoked');
    expect(open()).toBe(false);
  });

  it('above the limit is a redirection to the whole file, with the bytes that were held back', async () => {
    const { open, resources, ends } = held();
    const response = await createExportResponse(inPieces(document), document.length - 1, resources);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(document);
    expect(open()).toBe(false);
    expect(ends).toEqual([undefined]);
  });

  it('that cannot be redirected releases the database', async () => {
    const { open, resources } = held();
    const redirect = () => Promise.reject(new Error('no bucket'));
    const response = createExportResponse(inPieces(document), document.length - 1, { ...resources, redirect });
    await expect(response).rejects.toThrow('no bucket');
    expect(open()).toBe(false);
  });

  it('that fails before its first byte is an error response', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: () => {
        throw new Error('the database is gone');
      },
    });
    await expect(createExportResponse(failing, Number.POSITIVE_INFINITY, held().resources)).rejects.toThrow(
      'the database is gone',
    );
  });
});
