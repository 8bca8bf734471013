import { z } from 'zod';
import { describeReply, hasStatus, type Reply } from '../step.ts';

const counts = z.record(z.string(), z.number());
const response = z.object({ summary: z.object({ created: counts, unchanged: counts, failed: counts }) });
const exported = z.object({ manifest: z.object({ counts }) });

/** Returns the outcome of an import by people. @throws Error unless it succeeded */
export function expectImported(reply: Reply): { created: number; unchanged: number; failed: number } {
  if (!hasStatus(reply, 200)) throw new Error(`the import failed: ${describeReply(reply)}`);
  const { created, unchanged, failed } = response.parse(JSON.parse(reply.text)).summary;
  return {
    created: created.humanUsers ?? 0,
    unchanged: unchanged.humanUsers ?? 0,
    failed: Object.values(failed).reduce((sum, count) => sum + count, 0),
  };
}

/** Counts the people of an export; none where the organisation does not exist yet. */
export function countPeople(reply: Reply): number {
  if (!hasStatus(reply, 200)) return 0;
  return exported.parse(JSON.parse(reply.text)).manifest.counts.humanUsers ?? 0;
}
