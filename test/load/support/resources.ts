import { setTimeout } from 'node:timers/promises';
import { parseMetrics } from '../../support/http/prometheus.ts';
import type { Period } from './traffic.ts';

const INTERVAL_MS = 1_000;

/** The metrics that are sampled. */
const metrics = {
  rss: 'process_resident_memory_bytes',
  heap: 'nodejs_heap_size_used_bytes',
  descriptors: 'process_open_fds',
  /** The delay of the event loop since the last sample, in seconds. */
  delayP99: 'nodejs_eventloop_lag_p99_seconds',
  delayMax: 'nodejs_eventloop_lag_max_seconds',
  inFlight: 'identity_requests_in_flight',
} as const;

/** The metrics of the server at one moment. */
export type Sample = Readonly<Record<keyof typeof metrics, number>>;

/** A sample, and the seconds since the begin of the traffic. */
export type TimedSample = Sample & { readonly seconds: number };

/** Reads the server's metrics. */
export async function sampleResources(metricsUrl: string): Promise<Sample> {
  const found = parseMetrics(await (await fetch(metricsUrl)).text());
  const value = (name: string) => {
    const sample = found.get(name);
    if (sample === undefined) throw new Error(`there is no metric ${name}`);
    return sample;
  };
  return {
    rss: value(metrics.rss),
    heap: value(metrics.heap),
    descriptors: value(metrics.descriptors),
    delayP99: value(metrics.delayP99),
    delayMax: value(metrics.delayMax),
    inFlight: value(metrics.inFlight),
  };
}

/** Samples the server's metrics every second. */
export async function watchResources(metricsUrl: string, { begin, end }: Period): Promise<TimedSample[]> {
  const samples: TimedSample[] = [];
  for (let due = begin; due < end; due = Math.max(due + INTERVAL_MS, performance.now())) {
    await setTimeout(Math.max(0, due - performance.now()));
    const seconds = (performance.now() - begin) / 1_000;
    samples.push({ seconds, ...(await sampleResources(metricsUrl)) });
  }
  return samples;
}
