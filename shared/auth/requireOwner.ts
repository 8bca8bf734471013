import { personDenied } from '../errors/errors.ts';
import { isInSection, serviceUsers } from '../organisation/section.ts';
import type { Store } from '../store/store.ts';
import { authenticate, authorise, type Caller, type OnIdentified } from './authorise.ts';

/**
 * Checks by the Authorization header that the caller is a service user with the role IAM_OWNER, as exports and imports
 * require (specification 5.2, zitadel 6.5). Must run before any other check of the request, so that unauthorised callers
 * learn nothing from its errors.
 * @returns the caller
 * @throws IdentityError UNAUTHENTICATED, PERMISSION_DENIED
 */
export async function requireOwner(
  store: Store,
  authorization: string | undefined,
  operation: 'export' | 'import',
  now: Date,
  onIdentified?: OnIdentified,
): Promise<Caller> {
  const caller = await authenticate(store, authorization, operation, now, onIdentified);
  await authorise(store, caller, 'iam.write');
  if (!isInSection(caller.partition, serviceUsers)) throw personDenied();
  return caller;
}
