import { describe, inject } from 'vitest';

/** The Firestore emulator's `host:port`; `null` if there is none. */
export const firestoreEmulator = inject('firestoreEmulator');

/**
 * `describe` for tests against the Firestore emulator. Skips them if there is no emulator; the setup has printed the
 * reason.
 */
export const describeWithFirestore = describe.skipIf(firestoreEmulator === null);
