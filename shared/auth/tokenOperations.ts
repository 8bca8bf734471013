/** The operations that a token can be restricted to, by their names in `identity pat create --only`. */
export const operations = ['export', 'import', 'otp-email'] as const;

/** An operation that a token can be restricted to. */
export type Operation = (typeof operations)[number];
