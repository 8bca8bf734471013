import { readFile } from 'node:fs/promises';
import { vi } from 'vitest';
import { init, serve } from '../../support/instances/commandInstance.ts';
import { HEAP_MEGABYTES } from './loadResult.ts';

/** What the log may have: events of the audit trail of a database in the cloud, and 501 for what is not supported. */
const asked = ['"log_type":"audit"', '"status":501,'];

/** A server under load. */
export interface Served {
  readonly url: string;
  readonly token: string;
  readonly metricsUrl: string;
  /** Counts the connections to its port. */
  connections(): Promise<number>;
  /** Stops it, and returns its exit code and the lines of its log that nobody asked for. */
  stop(): Promise<{ readonly code: number | null; readonly lines: readonly string[] }>;
}

/** Serves a new instance, with the bounds of admission that it has by default. */
export async function serveForLoad(database: readonly string[]): Promise<Served> {
  const { token } = await init(database);
  const running = await serve(database, [], {
    MAX_IMPORTS: undefined,
    MAX_EXPORTS: undefined,
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}`,
  });
  await running.written('/metrics');
  const url = running.ready[1] ?? '';
  return {
    url,
    token,
    metricsUrl: /^metrics at (\S+)$/m.exec(running.stdout())?.[1] ?? '',
    connections: () => countConnections(running.pid, Number(new URL(url).port)),
    stop: async () => {
      const { code, stderr } = await running.stop();
      return { code, lines: stderr.split('\n').filter(isUnasked) };
    },
  };
}

/** Whether a line is neither empty nor asked for. */
function isUnasked(line: string): boolean {
  return line !== '' && !asked.some((part) => line.includes(part));
}

/** The states of sockets that are no connection of the server's: TIME_WAIT, which the system keeps, and LISTEN. */
const OTHER_STATES = ['06', '0A'];

/** Counts the connections to a port of a process, as Linux lists them. */
async function countConnections(pid: number, port: number): Promise<number> {
  const files = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = files.flatMap((text) => text.trim().split('\n').slice(1)).map((line) => line.trim().split(/\s+/));
  return rows.filter(([, local = '', , state = '']) => local.endsWith(suffix) && !OTHER_STATES.includes(state)).length;
}

/** Longer than the server awaits the rest of a body, or keeps an idle connection. */
const CLOSED_WITHIN_MS = 45_000;

/** Waits until the server has no connections and no requests in flight, and returns what it still has. */
export async function connectionsLeft({ connections }: Pick<Served, 'connections'>): Promise<number> {
  return vi
    .waitUntil(async () => (await connections()) === 0, { timeout: CLOSED_WITHIN_MS, interval: 100 })
    .then(
      () => 0,
      () => connections(),
    );
}
