import type * as command from '../../shared/errors/commandErrors.ts';
import type * as operations from '../../shared/errors/errors.ts';
import type * as http from '../../shared/errors/httpErrors.ts';
import type { internalError } from '../../shared/errors/identityError.ts';
import type * as places from '../../shared/errors/placeErrors.ts';
import type * as storage from '../../shared/errors/storageErrors.ts';
import type * as store from '../../shared/errors/storeErrors.ts';

type ReasonsOf<Table> = Table[keyof Table] extends infer Row
  ? Row extends { readonly row: { readonly reason: infer Reason extends string } }
    ? Reason
    : never
  : never;

/** The name of an error. Clients depend on the names, so names may be added, but never removed or changed. */
export type ErrorReason =
  | ReasonsOf<typeof operations & typeof store>
  | ReasonsOf<typeof http & typeof storage>
  | ReasonsOf<typeof command & typeof places>
  | ReasonsOf<{ internalError: typeof internalError }>;
