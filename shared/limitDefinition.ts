import { z } from 'zod';
import { DAY_MS, SECOND_MS } from './clock.ts';
import { parseGoDuration } from './duration.ts';

export type Platform = 'selfHosted' | 'cloud';

export interface LimitDefinition {
  /** The environment variable that sets the limit. Absent if users cannot change the limit. */
  readonly variable?: string;
  readonly unit: keyof typeof units;
  readonly selfHosted: number;
  readonly cloud: number;
  /**
   * The words that documentation and errors use for the limited quantity. If exceeding the limit is not an error, they
   * also describe the effect.
   */
  readonly text: string;
}

export const UNLIMITED = Number.POSITIVE_INFINITY;

const number = (what: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,14}$/, `must be ${what}`)
    .transform(Number);

export const units = {
  bytes: { schema: number('a number of bytes, such as 32000000'), print: String },
  count: { schema: number('a positive whole number'), print: String },
  duration: {
    schema: z.string().transform((text, context) => {
      const milliseconds = parseGoDuration(text);
      if (milliseconds !== undefined && milliseconds <= DAY_MS) return milliseconds;
      context.addIssue('must be a positive duration of at most 24h, such as 60m');
      return z.NEVER;
    }),
    print: (milliseconds: number) =>
      milliseconds % 60_000 > 0 ? `${milliseconds / SECOND_MS}s` : `${milliseconds / 60_000}m`,
  },
} as const;
