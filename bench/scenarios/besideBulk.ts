import type { Buffer } from 'node:buffer';
import { exportUsers, importUsers, inlineImport } from '../clients/operations.ts';
import { type RemovalTimes, removalRequests, remove } from '../clients/removals.ts';
import { type Server, startServer } from '../clients/server.ts';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { ORGANISATION } from '../tasks/sampleUsers.ts';

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
