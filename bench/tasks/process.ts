import { z } from 'zod';

/** The cost of processing users. `time` and `cpu` are milliseconds; `cpu` is that of all threads of the process. */
export interface Measured {
  readonly users: number;
  readonly time: number;
  readonly cpu: number;
  /** The documents that a store has read and written. */
  readonly documents?: { readonly read: number; readonly written: number };
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
  writtenBytes: z.number().optional(),
  documents: z.object({ read: z.number(), written: z.number() }).optional(),
});

/** The result of a task; `peakMegabytes` is the peak memory of its process, `writtenBytes` what it wrote to disks. */
export type Result = z.infer<typeof resultSchema>;

/** Returns the users that a task processed in a second. */
export function rate({ users, time }: Result): number {
  return (users / time) * 1_000;
}

/** Returns the microseconds of all processors' time for each user. */
export function cpuPerUser({ users, cpu }: Result): number {
  return (cpu / users) * 1_000;
}
