import { z } from 'zod';

/** What some work on users took; times are milliseconds, `cpu` that of all threads of the process. */
export interface Measured {
  readonly users: number;
  readonly time: number;
  readonly cpu: number;
}

/** Runs `work`, which returns how many users it dealt with, and measures it. */
export async function measure(work: () => number | Promise<number>): Promise<Measured> {
  const begin = performance.now();
  const before = process.cpuUsage();
  const users = await work();
  const { user, system } = process.cpuUsage(before);
  return { users, time: performance.now() - begin, cpu: (user + system) / 1_000 };
}

export const resultSchema = z.object({
  users: z.number(),
  time: z.number(),
  cpu: z.number(),
  peakMegabytes: z.number(),
});

/** What a measurement has found; `peakMegabytes` is the most memory that its process had. */
export type Result = z.infer<typeof resultSchema>;
