import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { expect, it, onTestFinished } from 'vitest';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { parseMetrics } from '../support/http/prometheus.ts';
import { importInto } from '../support/http/wire.ts';
import { init, serve } from '../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { repetitions } from '../support/repetitions.ts';

/** LOAD_SECONDS sets another duration. */
const SECONDS = Number(process.env.LOAD_SECONDS ?? repetitions({ few: 60, many: 900 }));
const SAMPLE_MS = 500;
/**
 * The permitted growth from the middle to the last third of the traffic, in addition to a tenth: a new heap still
 * grows.
 */
const TOLERATED = { memory: 48e6, descriptors: 16 };
/** Objects that are never freed fill this heap, and end the server. */
const HEAP_MEGABYTES = 128;
/** No response takes this long, even on a busy machine: the request counts as lost. */
const LOST_SECONDS = 120;
const PEOPLE = 500;

/** A part of the traffic. */
interface Traffic {
  readonly connections: number;
  /** Requests a second. */
  readonly overallRate: number;
  readonly requests: autocannon.Request[];
  /** The expected statuses of its responses, all of which must occur. */
  readonly statuses: readonly number[];
}

let imported = 0;
const problems: string[] = [];
const still = organisation('still', {
  humanUsers: Array.from({ length: PEOPLE }, (_, index) => person(`still-${index}`)),
});

/** An import of a new person, and the removal of that person's factor. */
const importAndRemoval: autocannon.Request[] = [
  {
    method: 'POST',
    path: '/admin/v1/import',
    setupRequest: (request, context: { userId?: string }) => {
      context.userId = `new-${imported++}`;
      const humanUsers = [{ ...person(context.userId), otpEmail: true }];
      return { ...request, body: JSON.stringify({ data_orgs: { orgs: [organisation('new', { humanUsers })] } }) };
    },
    onResponse: (_status, body) => {
      if (body.includes('"errors":')) problems.push(body);
    },
  },
  {
    method: 'DELETE',
    setupRequest: (request, { userId }: { userId?: string }) => ({ ...request, path: `/v2/users/${userId}/otp_email` }),
  },
];

const exported: autocannon.Request = {
  method: 'POST',
  path: '/admin/v1/export',
  body: '{"org_ids":["still"],"response_output":true,"with_passwords":true}',
  onResponse: (_status, body) => {
    const people = body.split('"userName"').length - 1;
    if (people !== PEOPLE) problems.push(`an export has ${people} people`);
  },
};

const mix: Readonly<Record<string, Traffic>> = {
  'imports and removals': { connections: 1, overallRate: 40, requests: importAndRemoval, statuses: [200] },
  exports: { connections: 2, overallRate: 6, requests: [exported], statuses: [200] },
  reads: {
    connections: 8,
    overallRate: 100,
    requests: [{ path: '/healthz' }, { path: '/v2/users/still-0/authentication_methods' }],
    statuses: [200],
  },
  'bad requests': {
    // A self-hosted instance runs two imports at once.
    connections: 1,
    overallRate: 40,
    requests: [
      { method: 'POST', path: '/admin/v1/import', body: '{"data_orgs":{"orgs":"none"}}' },
      { method: 'DELETE', path: '/v2/users/unknown/otp_email' },
      { method: 'DELETE', path: '/v2/users/still-0/otp_email', headers: { authorization: 'Bearer wrong' } },
      { path: '/nothing' },
    ],
    statuses: [400, 401, 404],
  },
};

it(`a server handles ${SECONDS} seconds of mixed traffic, and grows neither in memory nor in descriptors nor in its log`, async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const database = ['--data', directory.path];
  const { token } = await init(database);
  const running = await serve(database, [], {
    ...{ MAX_CONCURRENT_TRANSFERS: undefined, METRICS_PORT: '0', LOG_LEVEL: 'warn' },
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}`,
  });
  await running.written('/metrics');
  const metricsUrl = /^metrics at (\S+)$/m.exec(running.stdout())?.[1] ?? '';
  const url = running.ready[1] ?? '';
  await importInto({ url, token, database }, { data_orgs: { orgs: [still, organisation('new')] } });
  const before = await sample(metricsUrl);
  const samples: (typeof before)[] = [];
  const end = performance.now() + SECONDS * 1_000;
  const watching = (async () => {
    for (; performance.now() < end; await sleep(SAMPLE_MS)) samples.push(await sample(metricsUrl));
  })();
  await Promise.all(
    Object.entries(mix).map(async ([name, { statuses, ...traffic }]) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const requests = traffic.requests.map((one) => ({ ...one, headers: { ...headers, ...one.headers } }));
      const result = await autocannon({ ...traffic, requests, url, duration: SECONDS, timeout: LOST_SECONDS });
      const seen = Object.keys(result.statusCodeStats ?? {}).map(Number);
      expect({ name, errors: result.errors, seen }).toEqual({ name, errors: 0, seen: [...statuses] });
    }),
  );
  await watching;
  expect(problems).toEqual([]);
  expect(growth(samples.map(({ memory }) => memory))).toBeLessThan(TOLERATED.memory);
  expect(growth(samples.map(({ descriptors }) => descriptors))).toBeLessThan(TOLERATED.descriptors);
  const left = async () => (await sample(metricsUrl)).descriptors - before.descriptors;
  await expect.poll(left).toBeLessThan(TOLERATED.descriptors);
  const { code, stderr } = await running.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

async function sample(metricsUrl: string): Promise<{ memory: number; descriptors: number }> {
  const metrics = parseMetrics(await (await fetch(metricsUrl)).text());
  const metric = (name: string) => metrics.get(name) ?? expect.fail(`the server has no metric ${name}`);
  return { memory: metric('process_resident_memory_bytes'), descriptors: metric('process_open_fds') };
}

/** The tolerated growth of the median from the middle third to the last third, in addition to a tenth. */
function growth(values: readonly number[]): number {
  const third = Math.floor(values.length / 3);
  const median = (some: readonly number[]) => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;
  return median(values.slice(2 * third)) - 1.1 * median(values.slice(third, 2 * third));
}
