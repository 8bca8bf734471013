// Computes a digest that identifies the plan of a dry run.

import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/** A plan, and the data from which the command made it. */
export interface ShownState {
  /** A digest of all records, which changes with every secret. */
  readonly source: string;
  readonly target: string;
  /** The options of the call that affect what moves, and where. */
  readonly options: unknown;
  readonly plan: unknown;
}

type Part = keyof ShownState;

/**
 * For each part of a digest, the other parts that can change this part. The call's options determine what the command
 * reads from both sides. If the call selects no secrets, the source file selects them, so a changed file also changes
 * the options.
 */
const causes: Readonly<Record<'call' | 'file', Readonly<Record<Part, readonly Part[]>>>> = {
  call: { source: ['options'], target: ['options'], options: [], plan: ['source', 'target', 'options'] },
  file: { source: [], target: [], options: ['source'], plan: ['source', 'target', 'options'] },
};
const parts = ['source', 'target', 'options', 'plan'] as const satisfies readonly Part[];

/** The length of the salt, in hexadecimal digits. */
const SALT_DIGITS = 16;
/** The length of the digest of a part, in hexadecimal digits. */
const DIGITS = 12;

/**
 * Returns a salt and a digest of each part. The digests are slow to compute and differ between calls, so that an
 * attacker cannot guess secrets with few possible values, such as short passwords.
 * @param salt the salt of an earlier digest, to compute the same digest again
 */
export async function planDigest(
  shown: ShownState,
  salt = randomBytes(SALT_DIGITS / 2).toString('hex'),
): Promise<string> {
  const digests = await Promise.all(
    parts.map((name) => slowDigest(JSON.stringify([name, ordered(shown[name])]), salt)),
  );
  return [salt, ...digests].join('');
}

/**
 * Returns the parts that differ from an earlier digest. Omits a part if another changed part may have changed it.
 * @param secretsFrom what selects the secrets: the call, or the file that is the source
 */
export async function changedParts(
  expected: string,
  shown: ShownState,
  secretsFrom: keyof typeof causes,
): Promise<readonly string[]> {
  const found = await planDigest(shown, expected.slice(0, SALT_DIGITS));
  const changed = parts.filter((_, index) => {
    const start = SALT_DIGITS + index * DIGITS;
    return expected.slice(start, start + DIGITS) !== found.slice(start, start + DIGITS);
  });
  return changed.filter((part) => !changed.some((other) => causes[secretsFrom][part].includes(other)));
}

const derive = promisify<string, string, number, { N: number; r: number; p: number }, Buffer>(scrypt);

async function slowDigest(text: string, salt: string): Promise<string> {
  const key = await derive(text, salt, DIGITS / 2, { N: 2 ** 14, r: 8, p: 1 });
  return key.toString('hex');
}

/** Returns a value with its lists and fields sorted, because places return them in any order. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map((element) => JSON.stringify(ordered(element)) ?? '');
    return texts.toSorted();
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => [name, ordered(field)])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
