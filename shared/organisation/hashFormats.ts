import { type RecordWarning, warn } from '../errors/warnings.ts';
import { overlap, type ReleaseRange, releasesSince } from './zitadelReleases.ts';

/** How ZITADEL verifies a password hash (zitadel 5.6). */
interface HashVerification {
  /** The format's name; `unknown` if ZITADEL cannot verify the hash with any setting. */
  readonly format: string;
  /** The name of the verifier in ZITADEL's setting; absent if ZITADEL has no verifier for the hash. */
  readonly verifier?: string;
  /**
   * True if the hash's cost is within the default limits of the ZITADEL releases that check costs. These releases
   * import a person with such a hash if the verifier is enabled.
   */
  readonly isWithinBounds: boolean;
}

type Range = readonly [min: number, max: number];

/** A format of hashes that github.com/zitadel/passwap verifies. */
interface HashFormat {
  readonly name: string;
  readonly verifier: string;
  /** The first version of ZITADEL that has the verifier; absent if all known versions have it. */
  readonly since?: string;
  readonly pattern: RegExp;
  /**
   * For each capture group of `pattern`, the range of numbers that the verifier accepts. If absent, the verifier
   * accepts all numbers.
   */
  readonly usable?: readonly Range[];
  /**
   * For each capture group of `pattern`, the range of numbers that ZITADEL's default cost limits allow. If absent, they
   * allow all numbers.
   */
  readonly bounds?: readonly Range[];
  readonly toNumber?: (text: string) => number;
}

const MAX_UINT32 = 2 ** 32 - 1;

/** Matches base64 without padding. The unused bits of the last character must be zero. */
const STRICT = String.raw`(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/][AQgw]|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048])?`;
/** Matches base64 in the standard alphabet, or with `.` instead of `+`; with or without padding. */
const LENIENT = ['[A-Za-z\\d+/]', '[A-Za-z\\d./]'].map((digit) => `(?:${digit}{4})*(?:${digit}{2,3})?=*`).join('|');
/** Matches any text after the hash, because ZITADEL ignores such a text. */
const REST = '(?:\\$.*)?$';

const CRYPT_ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const cryptNumber = (text: string) => CRYPT_ALPHABET.indexOf(text);

const sha2 = (id: number, characters: number) =>
  new RegExp(`^\\$${id}\\$(?:rounds=([1-9]\\d{3,8})\\$)?[^$]{0,16}\\$[./\\dA-Za-z]{${characters}}$`);

const costs = [10, 16] as const;

/** Matches only the first 60 characters, because ZITADEL ignores the text after them. */
const bcryptHash = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}/;

const formats: readonly HashFormat[] = [
  { name: 'bcrypt', verifier: 'bcrypt', pattern: bcryptHash, bounds: [costs] },
  {
    name: 'argon2',
    verifier: 'argon2',
    pattern: new RegExp(
      `^\\$argon2(?:i|id)\\$v=19\\$m=(\\d+),t=(\\d+),p=(\\d+)\\$(?=[^$])${STRICT}\\$(?=[^$])${STRICT}${REST}`,
    ),
    usable: [
      [0, MAX_UINT32],
      [1, MAX_UINT32],
      [1, 255],
    ],
    bounds: [
      [8 * 1024, 512 * 1024],
      [1, 10],
      [1, 16],
    ],
  },
  {
    name: 'scrypt',
    verifier: 'scrypt',
    pattern: new RegExp(
      `^\\$(?:scrypt|7)\\$ln=(\\d+),r=(\\d+),p=(\\d+)\\$(?=[^$])${STRICT}\\$(?=[^$])${STRICT}${REST}`,
    ),
    usable: [
      [1, 52],
      [1, MAX_UINT32],
      [1, MAX_UINT32],
    ],
    bounds: [
      [14, 20],
      [8, 32],
      [1, 16],
    ],
  },
  {
    name: 'pbkdf2',
    verifier: 'pbkdf2',
    pattern: new RegExp(
      `^\\$pbkdf2(?:-sha(?:224|256|384|512))?\\$(\\d+)\\$(?=[^$])(?:${LENIENT})\\$(?=[^$])(?:${LENIENT})${REST}`,
    ),
    usable: [[0, MAX_UINT32]],
    bounds: [[1_000, 10_000_000]],
  },
  { name: 'md5crypt', verifier: 'md5', pattern: /^\$1\$[^$\s]+\$[./0-9A-Za-z]{22}$/ },
  {
    name: 'md5salted',
    verifier: 'md5salted',
    since: '3.0',
    pattern: /^\$md5salted-(?:prefix|suffix)\$[^$\s]+\$[A-Za-z\d+/]{22}==$/,
  },
  { name: 'md5plain', verifier: 'md5plain', pattern: /^[0-9a-fA-F]{32}$/ },
  {
    name: 'phpass',
    verifier: 'phpass',
    since: '3.1',
    pattern: /^\$[PH]\$([./0-9A-Za-z])[./0-9A-Za-z]{30}$/,
    bounds: [[7, 31]],
    toNumber: cryptNumber,
  },
  {
    name: 'drupal7',
    verifier: 'drupal7',
    since: '4.6',
    pattern: /^\$S\$([./0-9A-Za-z])[./0-9A-Za-z]{51}$/,
    bounds: [[1_000, 500_000]],
    toNumber: (text) => 2 ** cryptNumber(text),
  },
  { name: 'sha256crypt', verifier: 'sha2', since: '3.1', pattern: sha2(5, 43) },
  { name: 'sha512crypt', verifier: 'sha2', since: '3.1', pattern: sha2(6, 86) },
];

const formatsByName = new Map(formats.map((format) => [format.name, format]));

export const SETTING = 'SystemDefaults.PasswordHasher.Verifiers';

/** The verifier that ZITADEL's default settings enable. */
const BY_DEFAULT = 'bcrypt';

/**
 * Returns the verifier that ZITADEL's settings must enable before ZITADEL can verify a hash. Returns undefined if
 * ZITADEL's default settings suffice, or if ZITADEL cannot verify the hash with any setting.
 * @param releases the releases of ZITADEL that the target may run
 */
export function optionalVerifier(hash: string, releases: ReleaseRange): string | undefined {
  const verifier = verifierIn(hash, releases);
  return verifier === BY_DEFAULT ? undefined : verifier;
}

/**
 * Returns the name of ZITADEL's verifier for a hash. Returns undefined if none of the releases has a verifier for the
 * hash.
 */
export function verifierIn(hash: string, releases: ReleaseRange): string | undefined {
  const { verifier, since } = formatsByName.get(hashVerification(hash).format) ?? {};
  return since === undefined || overlap(releasesSince(since), releases) ? verifier : undefined;
}

/**
 * @example
 * hashVerification('$2a$10$…'); // { format: 'bcrypt', verifier: 'bcrypt', isWithinBounds: true }
 * hashVerification('secret'); // { format: 'unknown', isWithinBounds: false }
 */
export function hashVerification(hash: string): HashVerification {
  for (const format of formats) {
    const match = format.pattern.exec(hash);
    if (match === null || !areWithin(format.usable, match, format)) continue;
    return { format: format.name, verifier: format.verifier, isWithinBounds: areWithin(format.bounds, match, format) };
  }
  return { format: 'unknown', isWithinBounds: false };
}

function areWithin(ranges: readonly Range[] | undefined, match: RegExpExecArray, { toNumber = Number }: HashFormat) {
  if (ranges === undefined) return true;
  return ranges.every(([min, max], index) => {
    const number = toNumber(match[index + 1] ?? '');
    return number >= min && number <= max;
  });
}

/**
 * True if ZITADEL's default settings do not allow this hash. The releases in `refusingHashes` then refuse to import the
 * person.
 */
export function isRefusedByDefault(hash: string): boolean {
  const { verifier, isWithinBounds } = hashVerification(hash);
  return verifier !== BY_DEFAULT || !isWithinBounds;
}

export function isVerifiedByDefault(format: string): boolean {
  return formatsByName.get(format)?.verifier === BY_DEFAULT;
}

export function describeVerifiers(format: string): string {
  const { verifier, since } = formatsByName.get(format) ?? {};
  if (verifier === undefined) return 'no release of ZITADEL verifies this format';
  if (verifier === BY_DEFAULT) return 'verified by default';
  const condition = `only if ${SETTING} has ${verifier}`;
  return since === undefined ? `verified ${condition}` : `verified only from ZITADEL ${since} on, and ${condition}`;
}

const UNSUPPORTED = warn('hash_unsupported', { formats: formats.map(({ name }) => name) });

const unverified = new Map(
  formats
    .filter(({ verifier }) => verifier !== BY_DEFAULT)
    .map(({ name }) => [name, warn('hash_unverified', { format: name, condition: describeVerifiers(name) })]),
);

/** Returns the warning about a hash that ZITADEL's default settings do not verify; undefined for any other hash. */
export function passwordHashWarning(hash: string): RecordWarning | undefined {
  const { format, verifier } = hashVerification(hash);
  return verifier === undefined ? UNSUPPORTED : unverified.get(format);
}

/** Returns the cost of a bcrypt hash that ZITADEL can verify; undefined for any other hash. */
export function costOfBcryptHash(hash: string): number | undefined {
  const cost = bcryptHash.exec(hash)?.[1];
  return cost === undefined ? undefined : Number(cost);
}
