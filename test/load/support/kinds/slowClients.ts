import { setTimeout } from 'node:timers/promises';
import type { Kind } from '../kind.ts';
import type { PlacedCall } from '../places.ts';
import { BULKY, plainImport } from '../population.ts';
import { checkExport, checkImport, type System, sendPlaced } from '../system.ts';

const PIECES = 20;
const SLOW_READ_BYTES_PER_SECOND = 1_500_000;
const BARELY_READ_BYTES_PER_SECOND = 100_000;

/** An import whose client left in the middle of its body. */
class BrokenOff extends Error {}

/** Clients that read or write slowly, and some that leave. */
export function slowClients(system: System): readonly Kind[] {
  const readBulky = (reading: { readonly bytesPerSecond: number; readonly leaveAfterMs?: number }) =>
    sendPlaced(
      system,
      'export',
      { ...reading, body: () => JSON.stringify({ response_output: true, org_ids: [BULKY] }) },
      { status: 200, check: checkExport(1) },
    );
  const write = (body: (call: PlacedCall) => AsyncIterable<string>, status: number) =>
    sendPlaced(system, 'import', { body }, { status, ...(status === 200 && { check: checkImport(1, ['unchanged']) }) });
  return [
    {
      name: 'export that is read slowly',
      workers: 1,
      pauseMs: 1_000,
      asked: ['200'],
      send: () => readBulky({ bytesPerSecond: SLOW_READ_BYTES_PER_SECOND }),
    },
    {
      name: 'export that is barely read, and left',
      workers: 1,
      pauseMs: 1_000,
      asked: ['left'],
      send: () => readBulky({ bytesPerSecond: BARELY_READ_BYTES_PER_SECOND, leaveAfterMs: 5_000 }),
    },
    { name: 'import that is written slowly', workers: 4, pauseMs: 500, asked: ['200'], send: () => write(drip, 200) },
    {
      name: 'import that is written too slowly',
      workers: 4,
      pauseMs: 500,
      asked: ['408'],
      send: () => write(trickle, 408),
    },
    {
      name: 'import that is left in its body',
      workers: 4,
      pauseMs: 500,
      asked: ['left'],
      send: () =>
        write(breakOff, 200).catch((error: unknown) => {
          if (error instanceof BrokenOff) return { answer: 'left' };
          throw error;
        }),
    },
  ];
}

async function* drip(call: PlacedCall): AsyncGenerator<string> {
  const size = Math.ceil(plainImport.length / PIECES);
  for (let start = 0; start < plainImport.length; start += size) {
    await setTimeout(150);
    if (start + size >= plainImport.length) call.take();
    yield plainImport.slice(start, start + size);
  }
}

/** A hundred bytes a second, which is a tenth of what a body must have. */
async function* trickle(): AsyncGenerator<string> {
  for (;;) {
    yield ' '.repeat(100);
    await setTimeout(1_000);
  }
}

async function* breakOff(): AsyncGenerator<string> {
  yield plainImport.slice(0, plainImport.length / 2);
  await setTimeout(500);
  throw new BrokenOff('the client leaves');
}
