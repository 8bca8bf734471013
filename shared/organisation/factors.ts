import type { FieldName } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';

/**
 * Maps each authentication method to a field of the stored user. If the field exists, the user has the method. The
 * field for TOTP contains the encrypted seed, but a check that the field exists does not need the master key.
 */
export const factorFields = {
  password: 'passwordHash',
  totp: 'sealedTotpSeed',
  'otp-email': 'otpEmail',
} as const satisfies Readonly<Record<string, FieldName>>;

export type Factor = keyof typeof factorFields;

const factors: readonly Factor[] = ['password', 'totp', 'otp-email'];

export function factorsOf(user: StoredDocument): readonly Factor[] {
  return factors.filter((factor) => Boolean(user[factorFields[factor]]));
}
