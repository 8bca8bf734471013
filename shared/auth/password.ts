import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane.
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const ENCODED = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Hashes a clear password with argon2id and a random salt, in PHC's string format. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `$argon2id$v=19$m=19456,t=2,p=1$${encode(salt)}$${encode(await tagOf(password, salt))}`;
}

/** Whether `encoded` is a hash that `hashPassword` made of `password`; false for a hash of any other kind. */
export async function verifyPassword(password: string, encoded: string): Promise<boolean> {
  const [, salt, tag] = ENCODED.exec(encoded) ?? [];
  if (salt === undefined || tag === undefined) return false;
  const expected = Buffer.from(tag, 'base64');
  const actual = await tagOf(password, Buffer.from(salt, 'base64'));
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

async function tagOf(password: string, nonce: Buffer): Promise<Buffer> {
  return Buffer.from(await derive('argon2id', { message: password, nonce, ...PARAMETERS }));
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/**
 * The formats of password hashes that verifiers are known for (contract 5.6), by the name of each. A hash in any other
 * format can be kept, but nobody can log in with it.
 */
const formats: ReadonlyMap<string, RegExp> = new Map([
  ['bcrypt', /^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/],
  ['argon2', /^\$argon2(?:i|id)\$(?:v=\d+\$)?m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/],
  ['scrypt', /^\$scrypt\$ln=\d+,r=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/],
  ['pbkdf2', /^\$pbkdf2(?:-sha(?:1|224|256|384|512))?\$\d+\$[A-Za-z0-9+/.]+={0,2}\$[A-Za-z0-9+/.]+={0,2}$/],
  ['md5crypt', /^\$1\$[^$]{0,8}\$[./0-9A-Za-z]{22}$/],
  ['md5salted', /^\$md5salted-(?:prefix|suffix)\$[^$]*\$[A-Za-z0-9+/=]+$/],
  ['md5plain', /^[0-9a-fA-F]{32}$/],
  ['phpass', /^\$[PH]\$[./0-9A-Za-z]{31}$/],
  ['drupal7', /^\$S\$[./0-9A-Za-z]{52}$/],
  ['sha256crypt', /^\$5\$(?:rounds=\d+\$)?[^$]{0,16}\$[./0-9A-Za-z]{43}$/],
  ['sha512crypt', /^\$6\$(?:rounds=\d+\$)?[^$]{0,16}\$[./0-9A-Za-z]{86}$/],
]);

/** The names of the formats that can be verified. */
export const passwordHashFormats: readonly string[] = [...formats.keys()];

/** The name of a hash's format; undefined where no known verifier can read it. */
export function passwordHashFormat(hash: string): string | undefined {
  return passwordHashFormats.find((name) => formats.get(name)?.test(hash));
}
