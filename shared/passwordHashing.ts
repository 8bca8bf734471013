// The hashing of clear passwords.

/** How clear passwords are hashed before they are stored. */
export type PasswordHashing =
  | { readonly algorithm: 'bcrypt'; readonly cost: number }
  | { readonly algorithm: 'argon2id' };

/** The names of the algorithms. */
export const passwordAlgorithms = ['bcrypt', 'argon2id'] as const satisfies readonly PasswordHashing['algorithm'][];

/** The bounds of bcrypt's cost; each step doubles the time of a derivation. */
export const bcryptCosts = { min: 10, default: 12, max: 16 } as const;

/** The hashing that every ZITADEL can verify, whatever its configuration. */
export const defaultPasswordHashing: PasswordHashing = { algorithm: 'bcrypt', cost: bcryptCosts.default };

/** The bytes of a password that bcrypt can hash. */
export const MAX_BCRYPT_BYTES = 72;
