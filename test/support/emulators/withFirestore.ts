import { describe, inject } from 'vitest';

/** The Firestore emulator's `host:port`; `null` where there is none. */
export const firestoreEmulator = inject('firestoreEmulator');

/** `describe` for tests against the Firestore emulator: skipped where there is none, whose reason was then printed. */
export const describeWithFirestore = describe.skipIf(firestoreEmulator === null);
