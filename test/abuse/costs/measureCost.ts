import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Cost } from './costRow.ts';

/** What Linux writes into `clear_refs` of a process to forget its peak. */
const FORGET_PEAK = '5';
/** A process that has grown for its first requests of a kind does not for the next ones. */
const WARM_UP = 20;
/** What a request leaves behind, such as garbage and timers, is part of its cost. */
const SETTLE_MS = 500;

/** Sends a request so many times, one after the other, and returns the cost of one as the system counts it. */
export async function measureCost(pid: number, times: number, send: (index: number) => Promise<void>): Promise<Cost> {
  const warmUp = Math.min(WARM_UP, times - 1);
  for (let index = 0; index < warmUp; index++) await send(index);
  await setTimeout(SETTLE_MS);
  await writeFile(`/proc/${pid}/clear_refs`, FORGET_PEAK);
  const before = await usage(pid);
  for (let index = warmUp; index < times; index++) await send(index);
  await setTimeout(SETTLE_MS);
  const after = await usage(pid);
  const counted = times - warmUp;
  return {
    processorMs: (after.processorMs - before.processorMs) / counted,
    // Those of one request after the other: the peak is that of all.
    memoryBytes: Math.max(0, after.peakBytes - before.residentBytes),
    diskBytes: (after.writtenBytes - before.writtenBytes) / counted,
  };
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
