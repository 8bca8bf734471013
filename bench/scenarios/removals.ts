import { importUsers, inlineImport } from '../clients/operations.ts';
import { removalRequests, remove } from '../clients/removals.ts';
import { type Server, startServer } from '../clients/server.ts';
import type { Scenario } from '../measure.ts';

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
