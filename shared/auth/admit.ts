import type { Store } from '../store/store.ts';
import { authenticate } from './authenticate.ts';
import { authorise } from './authorise.ts';
import type { Permission } from './roles.ts';

/**
 * Admits a request by its Authorization header: its caller must hold a permission on the instance (interface 5,
 * contract 6.5). To be called before anything else of the request is looked at, so that nobody else learns from it.
 * @throws IdentityError UNAUTHENTICATED, PERMISSION_DENIED
 */
export async function admit(
  store: Store,
  authorization: string | undefined,
  permission: Permission,
  now: Date,
): Promise<void> {
  const caller = await authenticate(store, authorization, now);
  await authorise(store, caller, permission);
}
