import type { Buffer } from 'node:buffer';
import {
  exportUsers,
  importUsers,
  inlineImport,
  type RemovalTimes,
  removalRequests,
  remove,
} from '../clients/operations.ts';
import { type Server, startServer } from '../clients/server.ts';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { ORGANISATION } from '../tasks/sample.ts';

/** One connection has as many removals in a second as it can have one after the other. */
const counts = { 1: 2_000, 32: 12_000, 128: 12_000 } as const;

/** Removes factors over 1, 32 and 128 connections of one server. */
export const removals: Scenario = {
  prepare: async (bench) => {
    const server = bench.resources.use(await startServer(bench));
    let organisations = 0;
    const removeFrom = async (connections: number, count: number) => {
      const number = organisations++;
      // Organisations of one size have the numbers of their users one after the other.
      const size = counts[32];
      await addUsers(server, number, size);
      return remove(server, removalRequests(server, number * size, count), { connections });
    };
    // A server that has run for a while: the first thousands of requests are compiled meanwhile.
    await removeFrom(32, counts[32]);
    return async () => {
      const one = await removeFrom(1, counts[1]);
      const some = await removeFrom(32, counts[32]);
      const many = await removeFrom(128, counts[128]);
      return {
        rate1: one.perSecond,
        rate32: some.perSecond,
        rate128: many.perSecond,
        p99At1: one.p99,
        p99At32: some.p99,
        p99At128: many.p99,
      };
    };
  },
};

async function addUsers(server: Server, skipped: number, users: number): Promise<void> {
  await importUsers(server, inlineImport({ users, skipped, withOtpEmail: true }), users);
}

/** Removals arrive at fixed times, as those of many people do. */
const REMOVALS = { connections: 8, perSecond: 100 };

interface Bodies {
  /** The users of whom factors are removed, and who are exported. */
  readonly first: Buffer<ArrayBuffer>;
  readonly second: Buffer<ArrayBuffer>;
  readonly third: Buffer<ArrayBuffer>;
}

/** Removes factors while one import and one export run, and compares that import with one that runs alone. */
export const besideBulk: Scenario = {
  prepare: async (bench) => {
    const { users } = bench;
    const bodies = {
      first: inlineImport({ users, withOtpEmail: true }),
      second: inlineImport({ users, skipped: 1 }),
      third: inlineImport({ users, skipped: 2 }),
    };
    let rounds = 0;
    return () => measureBeside(bench, bodies, rounds++ % 2 === 0);
  },
};

// Of two imports into one database the later one is slower, so the order changes from round to round.
async function measureBeside(bench: BenchContext, bodies: Bodies, isAloneFirst: boolean): Promise<Figures> {
  const { users } = bench;
  await using server = await startServer(bench);
  await importUsers(server, bodies.first, users);
  const alone = () => importUsers(server, isAloneFirst ? bodies.second : bodies.third, users);
  const beside = () => removeBeside(server, users, isAloneFirst ? bodies.third : bodies.second);
  const before = isAloneFirst ? await alone() : undefined;
  const { times, milliseconds } = await beside();
  const time = before ?? (await alone());
  return {
    p99: times.p99,
    p50: times.p50,
    importRatio: milliseconds / time,
    aloneRate: (users / time) * 1_000,
    besideRate: (users / milliseconds) * 1_000,
  };
}

async function removeBeside(
  server: Server,
  users: number,
  body: Buffer<ArrayBuffer>,
): Promise<{ times: RemovalTimes; milliseconds: number }> {
  let isOver = false;
  const whileImporting = function* () {
    for (const request of removalRequests(server, 0, users)) {
      if (isOver) return;
      yield request;
    }
  };
  const [milliseconds, times] = await Promise.all([
    importUsers(server, body, users).finally(() => {
      isOver = true;
    }),
    remove(server, whileImporting(), REMOVALS),
    exportUsers(server, { org_ids: [ORGANISATION], response_output: true }),
  ]);
  return { times, milliseconds };
}
