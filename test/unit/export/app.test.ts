import { describe, expect, it } from 'vitest';
import { exportResponse } from '../../../functions/export/app.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';

const document = Buffer.from('{"orgs":[]}'.padEnd(300_000));

/** What a response holds open, and whether it still does. */
function held() {
  const open = { call: true, snapshot: true };
  const call: Disposable = {
    [Symbol.dispose]: () => {
      open.call = false;
    },
  };
  const snapshot: AsyncDisposable = {
    [Symbol.asyncDispose]: async () => {
      open.snapshot = false;
    },
  };
  return { open, pair: [call, snapshot] as const };
}

describe('the response of an export', () => {
  it('is streamed where there is no limit, and lets go of the database with its last byte', async () => {
    const { open, pair } = held();
    const response = await exportResponse(inPieces(document), undefined, pair);
    expect(response.headers.get('content-length')).toBeNull();
    expect(open).toEqual({ call: true, snapshot: true });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(document);
    expect(open).toEqual({ call: false, snapshot: false });
  });

  it('lets go of the database when its reader leaves in the middle', async () => {
    const { open, pair } = held();
    const response = await exportResponse(inPieces(document), undefined, pair);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(64 * 1024);
    await reader?.cancel();
    expect(open).toEqual({ call: false, snapshot: false });
  });

  it('is held back where there is a limit, until it is whole and its length is known', async () => {
    const { open, pair } = held();
    const response = await exportResponse(inPieces(document), document.length, pair);
    expect(open).toEqual({ call: false, snapshot: false });
    expect(response.headers.get('content-length')).toBe(String(document.length));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(document);
  });

  it('above the limit is an error that says what to do instead, and lets go of the database', async () => {
    const { open, pair } = held();
    const response = exportResponse(inPieces(document), document.length - 1, pair);
    await expect(response).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', message: /gcs_output/ });
    expect(open).toEqual({ call: false, snapshot: false });
  });

  it('that fails before its first byte is that error', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: () => {
        throw new Error('the database is gone');
      },
    });
    await expect(exportResponse(failing, undefined, held().pair)).rejects.toThrow('the database is gone');
  });
});
