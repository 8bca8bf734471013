import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

export interface ShownState {
  /** A digest of all records of the source, including their secrets. */
  readonly source: string;
  readonly target: string;
  /** The options that determine which records move, and to which target. */
  readonly options: unknown;
  readonly plan: unknown;
}

type Part = keyof ShownState;

/**
 * The keys are the parts of a digest. Each value lists the other parts whose change can cause a change of this part.
 * For example, the options determine what the command reads from both sides. `call` applies if the call selects the
 * secrets. `file` applies if the content of the source file selects the secrets, because a change of the file can then
 * change the options.
 */
const causes: Readonly<Record<'call' | 'file', Readonly<Record<Part, readonly Part[]>>>> = {
  call: { source: ['options'], target: ['options'], options: [], plan: ['source', 'target', 'options'] },
  file: { source: [], target: [], options: ['source'], plan: ['source', 'target', 'options'] },
};
const parts = ['source', 'target', 'options', 'plan'] as const satisfies readonly Part[];

/** The length of the salt, as a number of hexadecimal digits. */
const SALT_DIGITS = 16;
/** The length of one part's digest, as a number of hexadecimal digits. */
const DIGITS = 12;

/**
 * Returns a salt, followed by a digest of each part. A secret with few possible values, such as a short password, could
 * be guessed from a digest. So each call uses a new salt, and the digests are slow to compute.
 * @param salt the salt of an earlier digest, if this call computes that digest again
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
 * Returns the parts that have changed since an earlier digest. Leaves out a part if the change of another part may be
 * the only cause of its change.
 * @param secretsFrom what selects the secrets: the call, or the content of the source file
 */
export async function changedParts(
  expected: string,
  shown: ShownState,
  secretsFrom: keyof typeof causes,
): Promise<readonly string[]> {
  const actual = await planDigest(shown, expected.slice(0, SALT_DIGITS));
  const changed = parts.filter((_, index) => {
    const start = SALT_DIGITS + index * DIGITS;
    return expected.slice(start, start + DIGITS) !== actual.slice(start, start + DIGITS);
  });
  return changed.filter((part) => !changed.some((other) => causes[secretsFrom][part].includes(other)));
}

const derive = promisify<string, string, number, { N: number; r: number; p: number }, Buffer>(scrypt);

async function slowDigest(text: string, salt: string): Promise<string> {
  const key = await derive(text, salt, DIGITS / 2, { N: 2 ** 14, r: 8, p: 1 });
  return key.toString('hex');
}

/**
 * Returns a value in which lists and fields are sorted, because a place may return them in a different order each time.
 */
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
