// The costs of bcrypt, which hashes the clear passwords of imports.

/** The bounds of the cost. Each step doubles the time to compute a hash. */
export const bcryptCosts = { min: 10, default: 12, max: 16 } as const;

/** The maximum number of bytes of a password that bcrypt can hash. */
export const MAX_BCRYPT_BYTES = 72;
