import { expect, it } from 'vitest';
import { undisposed } from '../../../../cli/exports/fileContent.ts';
import type { Server } from '../../../../cli/places/calledServer.ts';
import { openServer } from '../../../../cli/places/instancePlace.ts';
import { defaultExportOptions } from '../../../../functions/export/contract.ts';
import { importRequest } from '../../../../functions/import/contract.ts';
import { collect, inPieces } from '../../../support/fixtures/bytes.ts';

const { timeout: _, ...options } = importRequest.parse({});
const { signal } = new AbortController();
const meter = { onPhase() {}, onWait() {}, onExcess() {}, onRetry() {} };
const FILE = Buffer.from('{"orgs":[]}');

/** A server that receives a file, and the bytes that it has received. */
function receivingServer() {
  const received: string[] = [];
  const server: Server = {
    name: 'https://north.example.com',
    tokenOption: '--token-file',
    isRemote: true,
    async send({ file }) {
      if (file !== undefined) received.push(String(await collect(file.open(signal))));
      const summary = { created: {}, unchanged: {}, failed: {}, notCarried: {}, warnings: [], proved: false };
      const body = inPieces(Buffer.from(JSON.stringify({ success: {}, summary })));
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body,
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
  return { received, server };
}

it.each([
  ['once if its size is known', FILE.byteLength, 1],
  ['once more to find its size', undefined, 2],
])('a file for a server with a limit of requests is read %s', async (_how, size, readings) => {
  const { received, server } = receivingServer();
  const limits = { requestBytes: 1_000 };
  const place = openServer(server, { service: 'identity', version: undefined, callLimits: limits });
  let opened = 0;
  const open = () => {
    opened++;
    return inPieces(FILE);
  };
  await place.import(
    { isRepeatable: true, size, open, ...undisposed },
    { ...defaultExportOptions, ...options },
    meter,
    signal,
  );
  expect({ received, opened }).toEqual({ received: [String(FILE)], opened: readings });
});
