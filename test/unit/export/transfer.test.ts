import { describe, expect, it } from 'vitest';
import { redirectToFile } from '../../../functions/export/transfer.ts';
import type { Transfers } from '../../../shared/objectStorage/transfers.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { memoryTransfers } from '../../support/memoryTransfers.ts';

const logged = capturedLog();

function redirect(transfers: Transfers, end: () => Promise<void>): Promise<Response> {
  const call = {
    request: new Request('https://identity.test/admin/v1/export', { method: 'POST' }),
    transfers,
    facts: { instanceId: 'north', userId: 'owner' },
    limit: 5,
    written: undefined,
    progress: { export: undefined, object: undefined },
    signal: new AbortController().signal,
  };
  return redirectToFile(call, inPieces(Buffer.from('exported')), end);
}

const fails = (reason: string) => () => Promise.reject(new Error(reason));
const ends = async () => {};

describe('the file of an export that exceeds the limit of a response', () => {
  it('is kept for the client that gets its URL', async () => {
    const transfers = memoryTransfers();
    const response = await redirect(transfers, ends);
    expect(String(transfers.download(response.headers.get('location') ?? ''))).toBe('exported');
  });

  it('is deleted if its URL cannot be signed', async () => {
    const transfers = memoryTransfers();
    const unsigned = { ...transfers, downloadUrl: fails('not signed') };
    await expect(redirect(unsigned, ends)).rejects.toThrow('not signed');
    expect([...transfers.objects.keys()]).toEqual([]);
  });

  it('is deleted if the call ends before its response', async () => {
    const transfers = memoryTransfers();
    await expect(redirect(transfers, fails('revoked'))).rejects.toThrow('revoked');
    expect([...transfers.objects.keys()]).toEqual([]);
  });

  it('is logged if it cannot be deleted, and the error remains the first', async () => {
    const undeleted = { ...memoryTransfers(), delete: fails('not deleted') };
    await expect(redirect(undeleted, fails('revoked'))).rejects.toThrow('revoked');
    expect(logged()).toContain('gs://transfers/exports/');
  });
});
