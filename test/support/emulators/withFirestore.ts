import { describe, inject } from 'vitest';

/** The Firestore emulator's `host:port`; `null` if there is none. */
export const firestoreEmulator = inject('firestoreEmulator');

/** `describe` for tests against the Firestore emulator: skipped if there is none, for the reason printed before. */
export const describeWithFirestore = describe.skipIf(firestoreEmulator === null);
