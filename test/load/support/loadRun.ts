import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LoadClient } from './client.ts';
import { measureFlatness } from './flatness.ts';
import { allKinds } from './kinds/allKinds.ts';
import { ADMITTED, type LoadResult, type ObservedLoad, tolerances } from './loadResult.ts';
import { Places } from './places.ts';
import { populationImports } from './population.ts';
import { findProblems } from './problems.ts';
import { sampleResources, watchResources } from './resources.ts';
import { connectionsLeft, type Served, serveForLoad } from './served.ts';
import type { System } from './system.ts';
import { runTraffic } from './traffic.ts';

/** Serves a new instance, and sends it the mixed traffic for a while. */
export async function runLoad(
  store: string,
  database: readonly string[],
  random: () => number,
  seconds: number,
): Promise<LoadResult> {
  const served = await serveForLoad(database);
  const client = new LoadClient(served.url);
  try {
    return await loadServed(served, client, { store, random, seconds });
  } finally {
    client.close();
    await served.stop();
  }
}

async function loadServed(
  served: Served,
  client: LoadClient,
  { store, random, seconds }: { store: string; random: () => number; seconds: number },
): Promise<LoadResult> {
  const places = { imports: new Places(ADMITTED.imports), exports: new Places(ADMITTED.exports) };
  const system: System = { client, token: served.token, random, ...places };
  await populate(system);
  const kinds = allKinds(system);
  const { descriptors: before } = await sampleResources(served.metricsUrl);
  const delay = monitorEventLoopDelay();
  delay.enable();
  const begin = performance.now();
  const period = { begin, end: begin + 1_000 * seconds };
  const [results, samples] = await Promise.all([runTraffic(kinds, period), watchResources(served.metricsUrl, period)]);
  delay.disable();
  client.close();
  const connections = await connectionsLeft(served);
  const { inFlight, descriptors: after } = await sampleResources(served.metricsUrl);
  const { code, lines } = await served.stop();
  const observed: ObservedLoad = {
    kinds: results,
    rss: measureFlatness(
      samples.map(({ rss }) => rss),
      tolerances.rss,
    ),
    descriptors: measureFlatness(
      samples.map(({ descriptors }) => descriptors),
      tolerances.descriptors,
    ),
    descriptorsAround: [before, after],
    resent: client.resent,
    left: { connections, requests: inFlight },
    exitCode: code,
    unaskedLines: lines,
  };
  const clientDelay = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
  return { ...observed, store, seconds, samples, clientDelay, problems: findProblems(observed) };
}

async function populate({ client, token }: System): Promise<void> {
  for (const body of populationImports) {
    const headers = { 'content-type': 'application/json' };
    const { status, tail } = await client.send({ method: 'POST', path: '/admin/v1/import', token, headers, body });
    const isComplete = status === 200 && !tail.includes('"errors":');
    if (!isComplete) throw new Error(`the import before the traffic failed: ${status} ${tail.slice(0, 500)}`);
  }
}
