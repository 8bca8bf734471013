/** The shells that `identity completion` writes a script for. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** One of `shells`. */
export type Shell = (typeof shells)[number];
