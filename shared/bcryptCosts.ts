// The costs of bcrypt, which hashes the clear passwords of imports.

/** The bounds of the cost; each step doubles the time of a derivation. */
export const bcryptCosts = { min: 10, default: 12, max: 16 } as const;

/** The bytes of a password that bcrypt can hash. */
export const MAX_BCRYPT_BYTES = 72;
