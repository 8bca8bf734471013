import type { TestContext } from 'vitest';
import { dripOrLinger, pipeline, sendRefused } from './connections.ts';
import { holdStreams } from './streams.ts';
import type { Target } from './target.ts';
import { percentile, type Service } from './victims.ts';

/** What a stranger at one address does, for as long as the service of others is measured. */
interface Attack {
  readonly name: string;
  readonly text: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: (target: Target, random: () => number) => Promise<void>;
}

const streams = (connections: number): Attack => ({
  name: `${connections} connections`,
  text: `${connections.toLocaleString('en')} connections of HTTP/2, each with 100 streams for \`/openapi.json\` that take no content, reset after 4 s and opened again`,
  run: (target, random) => holdStreams(target, connections, random),
});

/** Every attack that is measured. */
export const attacks: readonly Attack[] = [
  { name: 'nothing', text: 'nothing, to compare', run: (target, random) => dripOrLinger(target, 0, random) },
  streams(16),
  streams(100),
  streams(1_000),
  {
    name: 'new connections',
    text: '500 new connections a second: headers byte by byte, bodies without a token, or nothing',
    run: (target, random) => dripOrLinger(target, 500, random),
  },
  {
    name: 'refused bodies',
    text: '100 requests a second without a token whose bodies never end, at `MAX_CONNECTIONS=100`',
    env: { MAX_CONNECTIONS: '100' },
    run: (target) => sendRefused(target, 100),
  },
  {
    name: 'pipelined requests',
    text: '10 connections of HTTP/1 that send requests for `/healthz` as fast as they are taken, and are opened again once they are closed',
    run: (target) => pipeline(target, 10),
  },
];

/** How others were served during an attack. */
export interface Served {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly service: Service;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test has measured, for the report. */
    served?: readonly Served[];
  }
}

/** Notes for the report how others were served. */
export function noteServed({ task }: Pick<TestContext, 'task'>, served: Served): void {
  task.meta.served = [served];
}

const HEAD = ['attack from one address', 'TLS', "others' requests", 'failed', 'median', '99 of 100 within'];

/** The report's table in Markdown. */
export function servedLines(measured: readonly Served[]): string {
  const rows = measured.map(({ name, isEncrypted, service }) => {
    const text = attacks.find((one) => one.name === name)?.text ?? 'none';
    const times = [0.5, 0.99].map((share) => `${Math.ceil(percentile(service, share))} ms`);
    return [text, isEncrypted ? 'yes' : 'no', String(service.requests), String(service.failed.length), ...times];
  });
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
