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

interface Authentication {
  readonly store: Store;
  readonly now: () => Date;
  readonly authenticate?: Authenticate | undefined;
}

/**
 * Requires that the caller may export and import: a service user with the role IAM_OWNER, or the operator
 * (specification 5.2, zitadel 6.5). Call this function before any other check of the request, so that an unauthorised
 * caller learns nothing from other errors.
 * @throws IdentityError UNAUTHENTICATED if the token is missing or invalid; PERMISSION_DENIED if the token is valid,
 * but the caller is neither of these
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
 * The milliseconds between the end of a check and the start of the next check. It leaves time for the check itself, so
 * that a check takes place at least every five seconds.
 */
const INTERVAL_MS = 3_000;

/**
 * Repeats `check` while a long call runs, until the returned object is disposed of.
 * @param check throws if the caller is no longer authorised, or if the database does not respond
 * @param end called with the error of the first failed check, to end the call; never called again
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
