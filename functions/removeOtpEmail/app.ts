import { authenticate } from '../../shared/auth/authenticate.ts';
import type { Route } from '../../shared/http/route.ts';
import type { Store } from '../../shared/store/store.ts';
import { removeOtpEmail } from './removeOtpEmail.ts';

/** What the function works with. */
export interface RemoveOtpEmailPorts {
  readonly store: Store;
  readonly now: () => Date;
}

/** Released clients of ZITADEL still call the path of the service's beta; both answer alike. */
const paths = ['/v2/users/:userId/otp_email', '/v2beta/users/:userId/otp_email'];

/** `DELETE /v2/users/{userId}/otp_email` (interface 4.1): no body; 200 with `details`, 401, 403, 404. */
export function removeOtpEmailRoutes({ store, now }: RemoveOtpEmailPorts): readonly Route[] {
  return paths.map((path) => ({
    method: 'DELETE',
    path,
    handler: async (context) => {
      const caller = await authenticate(store, context.req.header('authorization'), now());
      const userId = context.req.param('userId') ?? '';
      return context.json({ details: await removeOtpEmail(store, caller, userId, now()) });
    },
  }));
}
