import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { removeOtpEmail } from '../../support/http/wire.ts';
import type { AbusedServer } from '../support/abusedServer.ts';
import type { MeasuredCost } from './costRow.ts';

/** What Linux writes into `clear_refs` of a process to forget its peak. */
const FORGET_PEAK = '5';
/** A process that has grown for its first requests of a kind does not for the next ones. */
const WARM_UP = 20;
/** What a request leaves behind, such as garbage and timers, is part of its cost. */
const SETTLE_MS = 500;

/** Enough for the compiler to be done with them. */
const REMOVALS = 1_000;

/** Sends a request so many times, one after the other, and returns the cost of one as the system counts it. */
export async function measureCost(
  server: AbusedServer,
  times: number,
  send: (index: number) => Promise<void>,
): Promise<MeasuredCost> {
  const removalMs = await measureRemoval(server);
  const warmUp = Math.min(WARM_UP, times - 1);
  for (let index = 0; index < warmUp; index++) await send(index);
  await setTimeout(SETTLE_MS);
  await writeFile(`/proc/${server.pid}/clear_refs`, FORGET_PEAK);
  const before = await usage(server.pid);
  for (let index = warmUp; index < times; index++) await send(index);
  await setTimeout(SETTLE_MS);
  const after = await usage(server.pid);
  const counted = times - warmUp;
  const processorMs = (after.processorMs - before.processorMs) / counted;
  return {
    processorMs,
    removals: processorMs / removalMs,
    // Those of one request after the other: the peak is that of all.
    memoryBytes: Math.max(0, after.peakBytes - before.residentBytes),
    diskBytes: (after.writtenBytes - before.writtenBytes) / counted,
  };
}

/** The processor's time of a removal, which is what most requests to an instance are. */
async function measureRemoval(server: AbusedServer): Promise<number> {
  const remove = async () => expect((await removeOtpEmail(server, 'nobody')).status).toBe(404);
  for (let warm = 0; warm < REMOVALS; warm++) await remove();
  const before = await processorTime(server.pid);
  for (let measured = 0; measured < REMOVALS; measured++) await remove();
  return ((await processorTime(server.pid)) - before) / REMOVALS;
}

async function usage(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const io = await readFile(`/proc/${pid}/io`, 'utf8');
  return {
    processorMs: await processorTime(pid),
    residentBytes: numberIn(status, /^VmRSS:\s*(\d+) kB$/m) * 1_024,
    peakBytes: numberIn(status, /^VmHWM:\s*(\d+) kB$/m) * 1_024,
    writtenBytes: numberIn(io, /^write_bytes: (\d+)$/m),
  };
}

/** The milliseconds that the threads of a process have run, which `schedstat` counts in nanoseconds. */
async function processorTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'));
  return (await Promise.all(times)).reduce((sum, text) => sum + numberIn(text, /^(\d+) /) / 1e6, 0);
}

function numberIn(text: string, pattern: RegExp): number {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`the system does not tell ${pattern}`);
  return Number(found);
}
