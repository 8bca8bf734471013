import { request } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import type { Instance } from '../../support/instances/deployments.ts';

/** The measurements of the other clients' requests. */
export interface Service {
  readonly requests: number;
  /** The statuses and errors that a server without an attack does not return. */
  readonly failed: readonly string[];
  /** Milliseconds from the opening of the connection to the end of the response, in rising order. */
  readonly milliseconds: readonly number[];
}

const PAUSE_MS = 15;

/** Sends removals for some time, each over a connection of its own. */
export async function serviceOfOthers(instance: Pick<Instance, 'url' | 'token'>, durationMs: number): Promise<Service> {
  const failed: string[] = [];
  const milliseconds: number[] = [];
  const requests: Promise<void>[] = [];
  const begin = performance.now();
  while (performance.now() - begin < durationMs) {
    const start = performance.now();
    requests.push(
      removalStatus(instance).then((status) => {
        milliseconds.push(performance.now() - start);
        if (status !== '404') failed.push(status);
      }),
    );
    await setTimeout(PAUSE_MS);
  }
  await Promise.all(requests);
  return { requests: requests.length, failed, milliseconds: milliseconds.sort((a, b) => a - b) };
}

/** Returns the status of a removal for an unknown user, or the error of its connection. */
function removalStatus({ url, token }: Pick<Instance, 'url' | 'token'>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${token}` };
  const sent = request(new URL('/v2/users/1/otp_email', url), {
    ...{ method: 'DELETE', agent: false, headers, rejectUnauthorized: false },
  });
  sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  sent.on('response', (response) => response.resume().once('end', () => resolve(String(response.statusCode))));
  sent.end();
  return promise;
}

/** Returns the time within which a share of the requests got a response. */
export function percentile({ milliseconds }: Service, share: number): number {
  return milliseconds[Math.ceil(milliseconds.length * share) - 1] ?? Number.NaN;
}
