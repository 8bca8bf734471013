import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemaIssueReason } from '../../../shared/json/schemaIssue.ts';

const schema = z.object({
  name: z.string(),
  ids: z.array(z.string()),
  isDry: z.boolean(),
  count: z.int(),
  counts: z.record(z.string(), z.int()),
  version: z.literal(1),
  conflict: z.enum(['report', 'skip']),
  text: z.string().min(1, 'must not be empty'),
});
const valid = { name: '', ids: [], isDry: true, count: 1, counts: {}, version: 1, conflict: 'skip', text: 'x' };

function reasonOf(value: unknown): string | undefined {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return issue && schemaIssueReason(issue);
}

describe('the reason of an issue with a schema', () => {
  it.each([
    [[], 'expected an object'],
    [{ ...valid, name: undefined }, 'expected text'],
    [{ ...valid, ids: 'x' }, 'expected a list'],
    [{ ...valid, isDry: 'yes' }, 'expected true or false'],
    [{ ...valid, count: '1' }, 'expected a number'],
    [{ ...valid, counts: [1] }, 'expected an object'],
    [{ ...valid, version: 2 }, 'expected 1'],
    [{ ...valid, conflict: 'replace' }, 'expected one of "report", "skip"'],
    [{ ...valid, text: '' }, 'must not be empty'],
  ])('for %j is %s, without words of the library', (value, reason) => {
    expect(reasonOf(value)).toBe(reason);
  });
});
