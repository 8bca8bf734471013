import { MAX_BCRYPT_BYTES } from '../bcryptCosts.ts';
import type { JsonObject } from '../json/jsonObject.ts';
import type { RecordIssue } from './relations.ts';
import { trimSpace } from './valueRules.ts';

/** A password complexity policy, with the field names of ZITADEL's organisation document (zitadel 2.2). */
export interface PasswordComplexity {
  readonly minLength: number;
  readonly hasLowercase: boolean;
  readonly hasUppercase: boolean;
  readonly hasNumber: boolean;
  readonly hasSymbol: boolean;
}

/** The password complexity policy of an organisation that has no policy of its own (zitadel 3.4). */
export const defaultComplexity: PasswordComplexity = {
  minLength: 8,
  hasLowercase: true,
  hasUppercase: true,
  hasNumber: true,
  hasSymbol: true,
};

/**
 * Reads a password complexity policy in canonical form. A field that the policy lacks is false, because canonical form
 * omits false values.
 */
export function parseComplexity(policy: JsonObject): PasswordComplexity {
  return {
    minLength: Number(policy.minLength ?? 0),
    hasLowercase: policy.hasLowercase === true,
    hasUppercase: policy.hasUppercase === true,
    hasNumber: policy.hasNumber === true,
    hasSymbol: policy.hasSymbol === true,
  };
}

/**
 * Returns an issue if the minimum length in a policy is 0, or exceeds the maximum length of a password that bcrypt can
 * hash.
 */
export function checkComplexityPolicy(policy: JsonObject): RecordIssue | undefined {
  const { minLength } = parseComplexity(policy);
  if (minLength > 0 && minLength <= MAX_BCRYPT_BYTES) return undefined;
  return { id: 'MODEL-Lsp0e', key: 'Errors.User.PasswordComplexityPolicy.MinLengthNotAllowed' };
}

/** The issue of a clear password that bcrypt cannot hash. ZITADEL's message about it has no id. */
const PASSWORD_TOO_LONG: RecordIssue = {
  id: '',
  key: `bcrypt: password length exceeds ${MAX_BCRYPT_BYTES} bytes`,
  reason: 'password_too_long',
  params: { limit: MAX_BCRYPT_BYTES },
};

export function passwordIssue(policy: PasswordComplexity, password: string): RecordIssue | undefined {
  const isTooLong = Buffer.byteLength(password) > MAX_BCRYPT_BYTES;
  return complexityIssue(policy, password) ?? (isTooLong ? PASSWORD_TOO_LONG : undefined);
}

/**
 * Checks a clear password by a policy as ZITADEL does: counts bytes instead of characters, and counts only ASCII
 * letters and digits as letters and digits (zitadel 3.4).
 */
export function complexityIssue(policy: PasswordComplexity, password: string): RecordIssue | undefined {
  const { minLength } = policy;
  if (Buffer.byteLength(password) < minLength) {
    const params = { rule: 'minLength', expected: `${minLength} bytes` };
    return { id: 'DOMAIN-HuJf6', key: 'Errors.User.PasswordComplexityPolicy.MinLength', params };
  }
  const broken = characterRules.find(({ rule, pattern }) => policy[rule] && !pattern.test(password));
  if (broken === undefined) return undefined;
  const { id, key, rule, expected } = broken;
  return { id, key, params: { rule, expected } };
}

const characterRules = [
  {
    rule: 'hasLowercase',
    pattern: /[a-z]/,
    expected: 'a letter from a to z',
    id: 'DOMAIN-co3Xw',
    key: 'Errors.User.PasswordComplexityPolicy.HasLower',
  },
  {
    rule: 'hasUppercase',
    pattern: /[A-Z]/,
    expected: 'a letter from A to Z',
    id: 'DOMAIN-VoaRj',
    key: 'Errors.User.PasswordComplexityPolicy.HasUpper',
  },
  {
    rule: 'hasNumber',
    pattern: /[0-9]/,
    expected: 'a digit',
    id: 'DOMAIN-ZBv4H',
    key: 'Errors.User.PasswordComplexityPolicy.HasNumber',
  },
  {
    rule: 'hasSymbol',
    pattern: /[^A-Za-z0-9]/,
    expected: 'another character',
    id: 'DOMAIN-ZDLwA',
    key: 'Errors.User.PasswordComplexityPolicy.HasSymbol',
  },
] as const;

/**
 * Whether ZITADEL can generate codes from a TOTP seed. The seed must be base32, in upper or lower case, with or without
 * padding.
 */
export function isTotpSeed(seed: string): boolean {
  const base32 = trimSpace(seed);
  const padded = base32.padEnd(Math.ceil(base32.length / 8) * 8, '=');
  return /^(?=.)(?:[A-Z2-7]{8})*(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?$/i.test(padded);
}
