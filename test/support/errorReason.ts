import type * as command from './commandErrors.ts';
import type * as operations from './errors.ts';
import type * as http from './httpErrors.ts';
import type { ErrorFactory, internalError } from './identityError.ts';
import type * as places from './placeErrors.ts';
import type * as storage from './storageErrors.ts';
import type * as store from './storeErrors.ts';

type ReasonsOf<Table> = Table[keyof Table] extends infer Row
  ? Row extends ErrorFactory<never, infer Reason>
    ? Reason
    : never
  : never;

/** The name of an error. Clients depend on names: they may be added, but never removed or changed. */
export type ErrorReason =
  | ReasonsOf<typeof operations & typeof store>
  | ReasonsOf<typeof http & typeof storage>
  | ReasonsOf<typeof command & typeof places>
  | ReasonsOf<{ internalError: typeof internalError }>;
