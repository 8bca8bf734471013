import { z } from 'zod';
import type { LoadAnswer, LoadClient, LoadRequest } from './client.ts';
import { judge, type Outcome } from './kind.ts';
import type { PlacedCall, Places } from './places.ts';

/** What the kinds of requests have in common: the instance, and what the client knows of it. */
export interface System {
  readonly client: LoadClient;
  /** A token of its owner. */
  readonly token: string;
  /** Random numbers from 0 up to 1. */
  readonly random: () => number;
  readonly imports: Places;
  readonly exports: Places;
}

/** How an answer is judged. */
interface Expected {
  readonly status: number;
  readonly check?: (answer: LoadAnswer) => string | undefined;
}

/** Sends a request to the export or import, which takes a place, and judges the answer. */
export async function sendPlaced(
  { client, token, ...places }: System,
  operation: 'import' | 'export',
  request: Omit<LoadRequest, 'method' | 'path' | 'body'> & { body: (call: PlacedCall) => LoadRequest['body'] },
  expected: Expected,
): Promise<Outcome> {
  const call = places[`${operation}s`].begin();
  let isLeft = true;
  try {
    const body = request.body(call);
    if (typeof body === 'string') call.take();
    const headers = { 'content-type': 'application/json', ...request.headers };
    const path = `/admin/v1/${operation}`;
    const answer = await client.send({ token, ...request, headers, method: 'POST', path, body });
    isLeft = answer.isLeft;
    return isLeft ? { answer: 'left' } : judge(answer, expected.status, { ...expected, call });
  } finally {
    call.end(isLeft);
  }
}

const manifestSchema = z.object({ manifest: z.object({ counts: z.record(z.string(), z.number()) }) });

/** Says what a complete export of at least so many people does not have. */
export function checkExport(atLeast: number): (answer: LoadAnswer) => string | undefined {
  return ({ tail }) => {
    const start = tail.lastIndexOf('"manifest":');
    if (start === -1) return `an export without a manifest: …${tail.slice(-100)}`;
    const { manifest } = manifestSchema.parse(JSON.parse(`{${tail.slice(start)}`));
    const { humanUsers = 0 } = manifest.counts;
    return humanUsers >= atLeast ? undefined : `an export of ${humanUsers} people instead of ${atLeast}`;
  };
}

const counts = z.record(z.string(), z.number());
const reportSchema = z.object({
  summary: z.object({ created: counts, unchanged: counts, overwritten: counts.optional(), failed: counts }),
});

/** Says how an import's report differs from one of so many people, all with one of the outcomes. */
export function checkImport(
  people: number,
  outcomes: readonly ('created' | 'unchanged' | 'overwritten')[],
): (answer: LoadAnswer) => string | undefined {
  return ({ tail }) => {
    const { summary } = reportSchema.parse(JSON.parse(tail));
    const found = outcomes.reduce((sum, outcome) => sum + (summary[outcome]?.humanUsers ?? 0), 0);
    return found === people ? undefined : `an import of ${people} people reported ${JSON.stringify(summary)}`;
  };
}
