import type { JsonObject } from '../json/jsonObject.ts';
import type { RecordIssue } from './section.ts';

/** A password complexity policy, in the fields of ZITADEL's organisation document (zitadel 2.2). */
export interface PasswordComplexity {
  readonly minLength: number;
  readonly hasLowercase: boolean;
  readonly hasUppercase: boolean;
  readonly hasNumber: boolean;
  readonly hasSymbol: boolean;
}

/** The policy of organisations without their own (zitadel 3.4). */
export const defaultComplexity: PasswordComplexity = {
  minLength: 8,
  hasLowercase: true,
  hasUppercase: true,
  hasNumber: true,
  hasSymbol: true,
};

/** Parses a policy from its canonical record, which omits false values. */
export function parseComplexity(policy: JsonObject): PasswordComplexity {
  return {
    minLength: Number(policy.minLength ?? 0),
    hasLowercase: policy.hasLowercase === true,
    hasUppercase: policy.hasUppercase === true,
    hasNumber: policy.hasNumber === true,
    hasSymbol: policy.hasSymbol === true,
  };
}

const key = (name: string) => `Errors.User.PasswordComplexityPolicy.${name}`;

/** Checks a clear password against a policy (zitadel 3.4). */
export function complexityIssue(policy: PasswordComplexity, password: string): RecordIssue | undefined {
  if ([...password].length < policy.minLength) return { id: 'DOMAIN-HuJf6', key: key('MinLength') };
  if (policy.hasLowercase && !/\p{Ll}/u.test(password)) return { id: 'DOMAIN-co3Xw', key: key('HasLower') };
  if (policy.hasUppercase && !/\p{Lu}/u.test(password)) return { id: 'DOMAIN-VoaRj', key: key('HasUpper') };
  if (policy.hasNumber && !/[0-9]/.test(password)) return { id: 'DOMAIN-ZBv4H', key: key('HasNumber') };
  if (policy.hasSymbol && !/[^A-Za-z0-9]/.test(password)) return { id: 'DOMAIN-ZDLwA', key: key('HasSymbol') };
  return undefined;
}

/**
 * The password hash formats with known verifiers (zitadel 5.6), by name. Hashes in other formats can be imported, but
 * nobody can log in with them.
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

/** The names of the verifiable formats. */
export const passwordHashFormats: readonly string[] = [...formats.keys()];

/** Finds the name of a hash's format; undefined for a hash without a known verifier. */
export function passwordHashFormat(hash: string): string | undefined {
  return passwordHashFormats.find((name) => formats.get(name)?.test(hash));
}
