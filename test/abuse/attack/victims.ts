import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import type { Instance } from '../../support/instances/deployments.ts';

/** How the requests of others were served. */
export interface Service {
  readonly requests: number;
  /** Those without the status of a server that is not attacked. */
  readonly failed: readonly string[];
  /** Milliseconds from the opening of the connection to the end of the response, in rising order. */
  readonly milliseconds: readonly number[];
}

const PAUSE_MS = 15;

/** Sends requests for some time, each from a connection of its own: `/healthz` and removals by turns. */
export async function serviceOfOthers(
  instance: Pick<Instance, 'url' | 'token'>,
  durationMs: number,
  addressOf: (index: number) => string,
): Promise<Service> {
  const failed: string[] = [];
  const milliseconds: number[] = [];
  const requests: Promise<void>[] = [];
  const begin = performance.now();
  for (let index = 0; performance.now() - begin < durationMs; index++) {
    const [method, path, expected] =
      index % 2 === 0 ? (['GET', '/healthz', 200] as const) : (['DELETE', '/v2/users/1/otp_email', 404] as const);
    const start = performance.now();
    requests.push(
      statusOf(instance, method, path, addressOf(index)).then((status) => {
        milliseconds.push(performance.now() - start);
        if (status !== String(expected)) failed.push(status);
      }),
    );
    await setTimeout(PAUSE_MS);
  }
  await Promise.all(requests);
  return { requests: requests.length, failed, milliseconds: milliseconds.sort((a, b) => a - b) };
}

/** Returns the status of one request, or the error of its connection. */
function statusOf({ url, token }: Pick<Instance, 'url' | 'token'>, method: string, path: string, localAddress: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { method, localAddress, agent: false, headers: { authorization: `Bearer ${token}` } };
  const target = new URL(path, url);
  const sent =
    target.protocol === 'https:'
      ? requestTls(target, { ...options, rejectUnauthorized: false })
      : requestPlain(target, options);
  sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  sent.on('response', (response) => response.resume().once('end', () => resolve(String(response.statusCode))));
  sent.end();
  return promise;
}

export function percentile({ milliseconds }: Service, share: number): number {
  return milliseconds[Math.ceil(milliseconds.length * share) - 1] ?? Number.NaN;
}
