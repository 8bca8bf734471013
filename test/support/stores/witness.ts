import { expect } from 'vitest';
import { z } from 'zod';
import { importReport } from '../instances/testInstance.ts';
import type { Contents } from './database.ts';

/** The response to an import, with any outcome. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

const counts = z.record(z.string(), z.number());
const interrupted = z.object({ details: z.tuple([z.object({ written: counts })]) });
const partition = z.object({ partition: z.string() });

/**
 * Checks the imports of one file. After each response, the database must contain every record that this or an earlier
 * response has reported as created, overwritten or unchanged, with the file's content.
 */
export class Witness {
  private readonly expected: Contents;
  private readonly claimed = new Map<string, number>();

  /** @param expected the records of the file by place, as an undisturbed import stores them */
  constructor(expected: Contents) {
    this.expected = expected;
  }

  /**
   * Expects every record that any response so far has reported as stored.
   * @param present the content of the database after the response
   */
  check(answer: Answer, present: Contents): void {
    for (const [section, count] of claimsOf(answer))
      this.claimed.set(section, Math.max(count, this.claimed.get(section) ?? 0));
    const stored = this.storedBySection(present);
    const untrue = [...this.claimed].flatMap(([section, count]) => {
      const found = stored.get(section) ?? 0;
      return found < count ? [`${count} ${section} are called stored, and ${found} are`] : [];
    });
    expect(untrue, answer.text).toEqual([]);
  }

  private storedBySection(present: Contents): ReadonlyMap<string, number> {
    const stored = new Map<string, number>();
    for (const [name, content] of present) {
      if (this.expected.get(name) !== content) continue;
      const [section = ''] = partition.parse(JSON.parse(content)).partition.split('/');
      stored.set(section, (stored.get(section) ?? 0) + 1);
    }
    return stored;
  }
}

/** Returns the numbers of records by section that a response reports as stored. */
function claimsOf({ status, text }: Answer): ReadonlyMap<string, number> {
  const claims = new Map<string, number>();
  const { created, unchanged, overwritten = {} } = storedIn(status, JSON.parse(text));
  for (const part of [created, unchanged, overwritten])
    for (const [section, count] of Object.entries(part)) claims.set(section, (claims.get(section) ?? 0) + count);
  return claims;
}

const stored = z.object({ created: counts, unchanged: counts, overwritten: counts.optional() });

function storedIn(status: number, answer: unknown): z.infer<typeof stored> {
  if (status === 200) return stored.parse(importReport.parse(answer).summary);
  const { data } = interrupted.safeParse(answer);
  return { created: data?.details[0].written ?? {}, unchanged: {} };
}
