import { z } from 'zod';

/** The cost of processing users. `time` and `cpu` are milliseconds; `cpu` is that of all threads of the process. */
export interface Measured {
  readonly users: number;
  readonly time: number;
  readonly cpu: number;
}

/** Measures `work`, which returns the number of processed users. */
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

/** The result of a measurement; `peakMegabytes` is the peak memory of its process. */
export type Result = z.infer<typeof resultSchema>;
