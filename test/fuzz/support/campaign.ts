import { hash } from 'node:crypto';
import fc from 'fast-check';
import { repetitions } from '../../support/repetitions.ts';
import { resendCommand } from '../http/httpRequest.ts';
import type { Kind } from '../kinds/kind.ts';
import { caseBytes, type FuzzCase } from './fuzzCase.ts';
import { seed } from './seed.ts';
import { Sender, type Target } from './sender.ts';

/** The requests to each function. */
export const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? repetitions({ few: 1_200, many: 100_000 }));

/** How often each status came. */
type Statuses = Readonly<Record<string, number>>;

/** What one kind of requests got. */
export interface Sent {
  readonly kind: string;
  readonly requests: number;
  readonly statuses: Statuses;
}

/** A failing request is simplified for this long; each simpler one may take its whole timeout. */
const SHRINK_MS = 60_000;

/**
 * Sends requests of all kinds at once, each kind on connections of its own.
 * @param onHalf called when half of the requests are sent
 * @throws Error with the simplest failing request of each kind, and the command that sends it again
 */
export async function sendAll(
  name: string,
  target: Target,
  kinds: readonly Kind[],
  onHalf: () => Promise<void>,
): Promise<readonly Sent[]> {
  process.stderr.write(`${name}: FUZZ_SEED=${seed}\n`);
  const weights = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const progress = halfway(REQUESTS / 2, onHalf);
  const sending = kinds.map((kind) => {
    const count = Math.ceil((REQUESTS * kind.weight) / weights);
    return sendKind(`${name}, ${kind.name}`, target, kind, count, progress.count);
  });
  const results = await Promise.allSettled(sending);
  await progress.done();
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  if (failures.length > 0) throw new Error(failures.join('\n\n'));
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

function halfway(half: number, onHalf: () => Promise<void>) {
  let sent = 0;
  let measuring: Promise<void> | undefined;
  return {
    count: () => {
      sent += 1;
      if (sent >= half) measuring ??= onHalf();
    },
    done: async () => measuring,
  };
}

async function sendKind(name: string, target: Target, kind: Kind, count: number, onSent: () => void): Promise<Sent> {
  const statuses: Record<string, number> = {};
  let requests = 0;
  let failed: FuzzCase | undefined;
  let stopAt = Number.POSITIVE_INFINITY;
  const sender = new Sender(target);
  const property = fc.asyncProperty(kind.cases, async (one) => {
    fc.pre(performance.now() < stopAt);
    try {
      for (const status of await sender.send(one)) statuses[status] = (statuses[status] ?? 0) + 1;
    } catch (error) {
      if (failed === undefined) stopAt = performance.now() + SHRINK_MS;
      failed = one;
      throw error;
    }
    requests += 1;
    onSent();
  });
  try {
    const details = await fc.check(property, { numRuns: count, seed: seedFor(name) });
    if (details.failed) throw failureError(name, failed, details.errorInstance);
  } finally {
    sender.close();
  }
  return { kind: kind.name, requests, statuses };
}

function seedFor(name: string): number {
  return Number.parseInt(hash('sha256', `${seed} ${name}`).slice(0, 8), 16) | 0;
}

function failureError(name: string, failed: FuzzCase | undefined, reason: unknown): Error {
  if (failed === undefined) return new Error(`${name}: no request could be made`, { cause: reason });
  const bytes = caseBytes(failed);
  const text = JSON.stringify(bytes.toString('latin1', 0, 2_000));
  const parts = [`${name} (FUZZ_SEED=${seed}, ${failed.way}): ${String(reason)}`, text, resendCommand(bytes)];
  return new Error(parts.join('\n'), { cause: reason });
}
