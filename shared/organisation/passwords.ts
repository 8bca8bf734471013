import type { JsonObject } from '../json/jsonObject.ts';
import { MAX_BCRYPT_BYTES, type PasswordHashing } from '../passwordHashing.ts';
import type { RecordIssue } from './relations.ts';
import { trimSpace } from './valueRules.ts';
import type { RecordWarning } from './warnings.ts';

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

/** Checks a policy's length as ZITADEL does: bcrypt cannot hash longer passwords. */
export function checkComplexityPolicy(policy: JsonObject): RecordIssue | undefined {
  const { minLength } = parseComplexity(policy);
  if (minLength > 0 && minLength <= MAX_BCRYPT_BYTES) return undefined;
  return { id: 'MODEL-Lsp0e', key: key('MinLengthNotAllowed') };
}

/** The issue of a password that bcrypt cannot hash. ZITADEL's message has no id. */
const TOO_LONG: RecordIssue = { id: '', key: `bcrypt: password length exceeds ${MAX_BCRYPT_BYTES} bytes` };

/** Checks a clear password against its organisation's policy, and against the limit of its hash. */
export function passwordIssue(
  policy: PasswordComplexity,
  { algorithm }: PasswordHashing,
  password: string,
): RecordIssue | undefined {
  const isTooLong = algorithm === 'bcrypt' && Buffer.byteLength(password) > MAX_BCRYPT_BYTES;
  return complexityIssue(policy, password) ?? (isTooLong ? TOO_LONG : undefined);
}

/** Checks a clear password against a policy as ZITADEL does: by bytes, and by letters and digits of ASCII (zitadel 3.4). */
export function complexityIssue(policy: PasswordComplexity, password: string): RecordIssue | undefined {
  if (Buffer.byteLength(password) < policy.minLength) return { id: 'DOMAIN-HuJf6', key: key('MinLength') };
  if (policy.hasLowercase && !/[a-z]/.test(password)) return { id: 'DOMAIN-co3Xw', key: key('HasLower') };
  if (policy.hasUppercase && !/[A-Z]/.test(password)) return { id: 'DOMAIN-VoaRj', key: key('HasUpper') };
  if (policy.hasNumber && !/[0-9]/.test(password)) return { id: 'DOMAIN-ZBv4H', key: key('HasNumber') };
  if (policy.hasSymbol && !/[^A-Za-z0-9]/.test(password)) return { id: 'DOMAIN-ZDLwA', key: key('HasSymbol') };
  return undefined;
}

/** The versions and costs that ZITADEL verifies, with their cost; it ignores what follows the 60 characters. */
const bcryptHash = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}/;

/** Finds the cost of a bcrypt hash that ZITADEL can verify; undefined for any other hash. */
export function bcryptCost(hash: string): number | undefined {
  const cost = bcryptHash.exec(hash)?.[1];
  return cost === undefined ? undefined : Number(cost);
}

/**
 * The password hash formats with known verifiers (zitadel 5.6), by name. Hashes in other formats can be imported, but
 * no login accepts them.
 */
const formats: ReadonlyMap<string, RegExp> = new Map([
  ['bcrypt', bcryptHash],
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

/** Finds the warning of a hash that many systems cannot verify, such as a ZITADEL with default settings: a login fails there. */
export function passwordHashWarning(hash: string): RecordWarning | undefined {
  const format = passwordHashFormat(hash);
  if (format === 'bcrypt') return undefined;
  if (format === undefined)
    return {
      reason: 'hash_unsupported',
      message: `unsupported password hash format, the user cannot log in with this password: supported formats are ${[...formats.keys()].join(', ')}`,
    };
  return {
    reason: 'hash_unverified',
    message: `not every system verifies ${format === 'argon2' ? hash.split('$')[1] : format} hashes: where this one does not, the user cannot log in with this password; set a new one, or enable the verifier`,
  };
}

/** Finds the name of a hash's format; undefined for a hash without a known verifier. */
export function passwordHashFormat(hash: string): string | undefined {
  for (const [name, pattern] of formats) if (pattern.test(hash)) return name;
  return undefined;
}

/** Whether ZITADEL can generate codes from a TOTP seed: base32 in any case, with or without its padding. */
export function isTotpSeed(seed: string): boolean {
  const base32 = trimSpace(seed);
  const padded = base32.padEnd(Math.ceil(base32.length / 8) * 8, '=');
  return /^(?=.)(?:[A-Z2-7]{8})*(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?$/i.test(padded);
}
