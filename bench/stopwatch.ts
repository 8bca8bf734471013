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
