/**
 * The permitted costs of bcrypt when an import hashes clear passwords. Each step doubles the time to compute a hash.
 */
export const bcryptCosts = { min: 10, default: 12, max: 16 } as const;

/** The maximum length of a password in bytes. bcrypt ignores further bytes. */
export const MAX_BCRYPT_BYTES = 72;
