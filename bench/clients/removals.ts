import { sampleUser } from '../tasks/sampleUsers.ts';
import { type Answer, type ClientOptions, quantile, sendAll } from './keepAliveClient.ts';
import type { Server } from './server.ts';

/** The times of removals in milliseconds. */
export interface RemovalTimes {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Returns requests that remove the OTP e-mail factor of each sample user from `first` on. */
export function* removalRequests({ token }: Server, first: number, count: number): Generator<string> {
  for (let number = first; number < first + count; number++) {
    const { userId } = sampleUser(number);
    yield `DELETE /v2/users/${userId}/otp_email HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  }
}

/**
 * Sends removals.
 * @throws Error if one of them fails
 */
export async function remove(
  server: Server,
  requests: Iterable<string>,
  options: ClientOptions,
): Promise<RemovalTimes> {
  const begin = performance.now();
  const answers = await sendAll(server.url, requests, options);
  const seconds = (performance.now() - begin) / 1_000;
  const failed = answers.find(({ status }) => status !== 200);
  if (failed !== undefined) throw new Error(`a removal returned ${failed.status}`);
  const times = answers.map(({ milliseconds }: Answer) => milliseconds);
  return { perSecond: answers.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
