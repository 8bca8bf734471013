import { z } from 'zod';
import type { Figure } from './figures.ts';
import { post, type Server } from './measuredServer.ts';

const EXPORTS = 5;
const exportRequest = JSON.stringify({
  timeout: '10m',
  response_output: true,
  with_passwords: true,
  with_otp: true,
});
const counts = z.record(z.string(), z.number());
const importResponse = z.object({
  errors: z.undefined().optional(),
  summary: z.object({ created: counts, unchanged: counts }),
});

/**
 * @returns the duration in milliseconds
 * @throws Error if the numbers of created or unchanged users differ from the expected numbers
 */
export async function importUsers(
  server: Server,
  body: Buffer<ArrayBuffer>,
  { created = 0, unchanged = 0 }: { readonly created?: number; readonly unchanged?: number },
): Promise<number> {
  const { text, milliseconds } = await post(server, 'import', body);
  const { summary } = importResponse.parse(JSON.parse(text));
  const isExpected = (summary.created.humanUsers ?? 0) === created && (summary.unchanged.humanUsers ?? 0) === unchanged;
  if (!isExpected) throw new Error(`the import had another outcome: ${text.slice(0, 500)}`);
  return milliseconds;
}

/** Returns the mean duration in milliseconds. */
export async function exportUsers(server: Server): Promise<number> {
  let milliseconds = 0;
  for (let count = 0; count < EXPORTS; count++)
    milliseconds += (await post(server, 'export', exportRequest)).milliseconds;
  return milliseconds / EXPORTS;
}

/**
 * Converts two durations in milliseconds to users per second: the duration of the service, and the duration without the
 * service.
 */
export function usersPerSecond(
  title: string,
  users: number,
  { service, limit }: Pick<Figure, 'service' | 'limit'>,
): Figure {
  return { title, unit: 'users/s', service: (users / service) * 1_000, limit: (users / limit) * 1_000 };
}
