import { readFile } from 'node:fs/promises';
import { baseTree } from '../base.ts';
import { exportUsers, importUsers, inlineImport, removalRequests, remove } from '../clients/operations.ts';
import { type Server, startServer } from '../clients/server.ts';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { organisationId } from '../tasks/sample.ts';
import { cpuPerUser, runTask } from '../tasks/task.ts';

const SMALL = 1_000;
const SMALL_EXPORTS = 60;
const EXPORTS = 5;
const REMOVALS = 6_000;

/** Returns the number of an organisation of a size, whose users come behind so many others. */
const behind = (users: number, size: number) => Math.ceil(users / size) + 1;

/** Measures this version and the base, one after the other: transfers in process and through HTTP, and removals. */
export const besideBase: Scenario = {
  prepare: async (bench) => {
    const base = await baseTree(bench);
    if (typeof base !== 'string') return base;
    const { users } = bench;
    const bodies = {
      all: inlineImport({ users }),
      small: inlineImport({ users: SMALL, skipped: behind(users, SMALL) }),
      removed: inlineImport({ users: REMOVALS, skipped: behind(users, REMOVALS), withOtpEmail: true }),
    };
    return async () => {
      const ofBase = await measureVersion(bench, bodies, base);
      const own = await measureVersion(bench, bodies, undefined);
      const figures = Object.entries(own).map(([name, value]): [string, number][] => {
        const other = ofBase[name] ?? Number.NaN;
        return [
          [name, value],
          [`${name}Base`, other],
          [`${name}Ratio`, value / other],
        ];
      });
      return Object.fromEntries(figures.flat());
    };
  },
};

type Bodies = Readonly<Record<'all' | 'small' | 'removed', Buffer<ArrayBuffer>>>;

/** @param tree the version's files; by default this one's */
async function measureVersion(bench: BenchContext, bodies: Bodies, tree: string | undefined): Promise<Figures> {
  const { users } = bench;
  const directory = bench.path(`beside-${tree === undefined ? 'own' : 'base'}-${performance.now()}`);
  const task = { users, file: await bench.sampleFile(users), location: { kind: 'sqlite', directory } } as const;
  const imported = await runTask({ ...task, name: 'import' }, tree);
  const again = await runTask({ ...task, name: 'import again' }, tree);
  await using server = await startServer(bench, {}, tree);
  const first = await costOf(server, () => importUsers(server, bodies.all, users));
  const second = await costOf(server, () => importUsers(server, bodies.all, users));
  const peak = await peakMegabytes(server);
  const whole = await costOf(server, () => exportOften(server, EXPORTS, {}));
  const org_ids = [organisationId(behind(users, SMALL))];
  await importUsers(server, bodies.small, SMALL);
  const small = await costOf(server, () => exportOften(server, SMALL_EXPORTS, { org_ids }));
  await importUsers(server, bodies.removed, REMOVALS);
  const requests = removalRequests(server, behind(users, REMOVALS) * REMOVALS, REMOVALS);
  const removed = await costOf(server, () => remove(server, requests, { connections: 32 }));
  return {
    importCpu: cpuPerUser(imported),
    againCpu: cpuPerUser(again),
    servedCpu: first.cpu / users,
    servedRate: (users / first.time) * 1e6,
    servedAgainCpu: second.cpu / users,
    peak,
    exportCpu: whole.cpu / (users * EXPORTS),
    exportRate: ((users * EXPORTS) / whole.time) * 1e6,
    smallCpu: small.cpu / (SMALL * SMALL_EXPORTS),
    smallRate: ((SMALL * SMALL_EXPORTS) / small.time) * 1e6,
    removalCpu: removed.cpu / REMOVALS,
    removalRate: (REMOVALS / removed.time) * 1e6,
  };
}

async function exportOften(server: Server, times: number, request: Readonly<Record<string, unknown>>): Promise<void> {
  for (let count = 0; count < times; count++) await exportUsers(server, { ...request, response_output: true });
}

/** Microseconds: of the clock, and of all processors for the server's process, user and system. */
interface Cost {
  readonly time: number;
  readonly cpu: number;
}

async function costOf(server: Server, work: () => Promise<unknown>): Promise<Cost> {
  const [cpu, begin] = [await processorTime(server), performance.now()];
  await work();
  const time = (performance.now() - begin) * 1_000;
  return { time, cpu: (await processorTime(server)) - cpu };
}

const TICK = 10_000;

async function processorTime({ pid }: Server): Promise<number> {
  const [, rest = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
  const [user, system] = rest.split(' ').slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK;
}

async function peakMegabytes({ pid }: Server): Promise<number> {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}
