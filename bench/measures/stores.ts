import { transfers } from '../scenarios/transfers.ts';

/** The imports and exports on each store, whose figures several measures show. */
export const embedded = transfers('sqlite');
export const emulator = transfers('firestore');
