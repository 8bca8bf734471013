// The authentication methods of users, and the stored fields that show which methods a user has.

import type { FieldName } from '../store/documentFields.ts';
import type { StoredDocument } from '../store/store.ts';

/**
 * The stored field that shows each authentication method. For TOTP, this is the encrypted seed, so that checking the
 * field needs no master key.
 */
export const factorFields = {
  password: 'passwordHash',
  totp: 'sealedTotpSeed',
  'otp-email': 'otpEmail',
} as const satisfies Readonly<Record<string, FieldName>>;

/** An authentication method that this service supports. */
export type Factor = keyof typeof factorFields;

const factors: readonly Factor[] = ['password', 'totp', 'otp-email'];

/** Lists the authentication methods of a stored user. */
export function factorsOf(user: StoredDocument): readonly Factor[] {
  return factors.filter((factor) => Boolean(user[factorFields[factor]]));
}
