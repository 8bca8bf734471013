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
