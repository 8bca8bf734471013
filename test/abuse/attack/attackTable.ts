import { holdHandshakes, holdSlow, pipeline, stallExports } from './connections.ts';
import { floodFrames, holdStreams } from './streams.ts';
import type { Target } from './target.ts';

/** An attack by one client, which runs while the service for other clients is measured. */
interface Attack {
  readonly name: string;
  readonly run: (target: Target, random: () => number) => Promise<unknown>;
}

/** Every tested attack. */
export const attacks: readonly Attack[] = [
  { name: 'nothing, to compare', run: (target) => holdSlow(target, 0) },
  { name: '1,000 connections with slow headers or bodies', run: (target) => holdSlow(target, 1_000) },
  { name: '1,000 TLS handshakes that never end', run: (target) => holdHandshakes(target, 1_000) },
  { name: '20 exports that are not read', run: (target) => stallExports(target, 20) },
  { name: '10 connections of pipelined requests', run: (target) => pipeline(target, 10) },
  {
    name: '100 connections of HTTP/2 with 100 unread streams each',
    run: (target, random) => holdStreams(target, 100, random),
  },
  { name: 'HTTP/2 resets', run: (target) => floodFrames(target, 'resets') },
  { name: 'HTTP/2 settings', run: (target) => floodFrames(target, 'settings') },
  { name: 'HTTP/2 pings', run: (target) => floodFrames(target, 'pings') },
  { name: 'HTTP/2 continuations', run: (target) => floodFrames(target, 'continuations') },
];
