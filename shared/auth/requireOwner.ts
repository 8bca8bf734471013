// Authorisation of exports and imports, checked again while a call runs.

import { personDenied } from '../errors/errors.ts';
import { isInSection, serviceUsers } from '../organisation/sections/section.ts';
import type { Store } from '../store/store.ts';
import {
  type Authenticate,
  authenticate as authenticateToken,
  authorise,
  type Caller,
  type OnIdentified,
} from './authorise.ts';

/** The database, and a function that authenticates its callers; by default by their tokens. */
interface Authentication {
  readonly store: Store;
  readonly now: () => Date;
  readonly authenticate?: Authenticate | undefined;
}

/**
 * Requires that the caller is a service user with the role IAM_OWNER, or the operator, as exports and imports do
 * (specification 5.2, zitadel 6.5). Call it before any other check of the request, so that an unauthorised caller
 * learns nothing from the errors of other checks.
 * @param authorization the Authorization header
 * @returns the caller
 * @throws IdentityError UNAUTHENTICATED, PERMISSION_DENIED
 */
export async function requireOwner(
  { store, now, authenticate = authenticateToken }: Authentication,
  authorization: string | undefined,
  operation: 'export' | 'import',
  onIdentified?: OnIdentified,
): Promise<Caller> {
  const caller = await authenticate(store, authorization, operation, now(), onIdentified);
  await authorise(store, caller, 'iam.write');
  if (caller.account === undefined && !isInSection(caller.partition, serviceUsers)) throw personDenied();
  return caller;
}

/**
 * Milliseconds between two checks. Including the duration of a check, each caller is checked at least every five
 * seconds.
 */
const INTERVAL_MS = 3_000;

/**
 * Repeats the check of a caller's authorisation while a long call runs, until the result is disposed of.
 * @param check throws when the caller is no longer authorised, or when the database does not answer
 * @param end called once, with the error of `check`, to end the call
 */
export function watchAuthorisation(check: () => Promise<unknown>, end: (error: unknown) => void): Disposable {
  let isDisposed = false;
  const checkAgain = async () => {
    try {
      await check();
      if (!isDisposed) timer = setTimeout(checkAgain, INTERVAL_MS);
    } catch (error) {
      if (!isDisposed) end(error);
    }
  };
  let timer = setTimeout(checkAgain, INTERVAL_MS);
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
    },
  };
}
