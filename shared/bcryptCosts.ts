/**
 * The permitted costs of bcrypt when an import hashes clear passwords. If the cost increases by 1, computing a hash
 * takes twice as long.
 */
export const bcryptCosts = { min: 10, default: 12, max: 16 } as const;

/** The maximum length of a password in bytes, because bcrypt ignores further bytes. */
export const MAX_BCRYPT_BYTES = 72;
