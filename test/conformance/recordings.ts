import { readFileSync } from 'node:fs';
import { z } from 'zod';

const headers = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
const answered = z.array(
  z.strictObject({
    name: z.string(),
    request: z.strictObject({
      method: z.string(),
      path: z.string(),
      token: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional(),
    }),
    status: z.int(),
    headers,
    body: z.string(),
  }),
);
const otpEmail = z.array(
  z.object({
    name: z.string(),
    method: z.string(),
    path: z.string(),
    body: z.unknown().optional(),
    status: z.int(),
    headers,
    response: z.string(),
  }),
);

/** A request to a real ZITADEL and its answer. Long bodies and paths are cut off, binary ones left out. */
export interface Recording {
  /** Unlike in the file, no two are alike: the second `add` is `add (2)`. */
  readonly name: string;
  readonly file: 'errors.json' | 'otp-email.json';
  readonly request: z.infer<typeof answered>[number]['request'];
  readonly status: number;
  readonly headers: z.infer<typeof headers>;
  readonly body: string;
}

/** All recorded answers, in the order in which they were given. */
export const recordings: readonly Recording[] = distinct([
  ...answered.parse(read('errors.json')).map((recording) => ({ ...recording, file: 'errors.json' as const })),
  ...otpEmail.parse(read('otp-email.json')).map(({ name, method, path, body, status, headers: got, response }) => ({
    name: `otp-email: ${name}`,
    file: 'otp-email.json' as const,
    request: { method, path, token: 'IAM_OWNER PAT', ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    status,
    headers: got,
    body: response,
  })),
]);

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/zitadel/${name}`, import.meta.url), 'utf8'));
}

function distinct(list: readonly Recording[]): Recording[] {
  const seen = new Map<string, number>();
  return list.map((recording) => {
    const times = (seen.get(recording.name) ?? 0) + 1;
    seen.set(recording.name, times);
    return times === 1 ? recording : { ...recording, name: `${recording.name} (${times})` };
  });
}
