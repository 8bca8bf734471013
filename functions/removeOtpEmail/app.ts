import { authenticate, type Caller } from '../../shared/auth/authorise.ts';
import { storeUnavailable } from '../../shared/errors/errors.ts';
import type { Route } from '../../shared/http/app.ts';
import { rpcRoutes } from '../../shared/rpc/rpcRoute.ts';
import { type Store, storeForCall } from '../../shared/store/store.ts';
import type { Ports } from '../ports.ts';
import { generations, removeOtpEmailRequest } from './contract.ts';
import { removeOtpEmail } from './operation.ts';

const serviceV2 = () => import('@zitadel/proto/zitadel/user/v2/user_service_pb.js');
const serviceV2Beta = () => import('@zitadel/proto/zitadel/user/v2beta/user_service_pb.js');

const descriptors = {
  v2: async () => (await serviceV2()).UserService.method.removeOTPEmail,
  v2beta: async () => (await serviceV2Beta()).UserService.method.removeOTPEmail,
};

/** Five seconds later, the last attempt is over; the platform ends a removal after 30 seconds. */
const RETRY_MS = 20_000;

/** One removal: its caller, and the store with the removal's deadline. */
interface Removal {
  readonly store: Store;
  readonly caller: Caller;
}

function deadline(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(storeUnavailable(undefined)), RETRY_MS).unref();
  return controller.signal;
}

/**
 * Returns the routes of the removal: `DELETE /v2/users/{userId}/otp_email` (specification 4.1) and
 * `UserService/RemoveOTPEmail` over gRPC, gRPC-Web and Connect.
 */
export function routes({ store, now }: Pick<Ports, 'store' | 'now'>): readonly Route[] {
  return (['v2', 'v2beta'] as const).flatMap((generation) =>
    rpcRoutes(
      {
        path: generations[generation].rpcPath,
        method: descriptors[generation],
        authenticate: async (authorization): Promise<Removal> => {
          const called = storeForCall(store, { signal: deadline() });
          return { store: called, caller: await authenticate(called, authorization, 'otp-email', now()) };
        },
        call: async (removal, request) => {
          const { userId } = removeOtpEmailRequest.parse(request);
          return { details: { ...(await removeOtpEmail(removal.store, removal.caller, userId, now())) } };
        },
      },
      {
        endpoint: generations[generation].endpoint,
        toRequest: (context) => ({ userId: context.req.param('userId') ?? '' }),
      },
    ),
  );
}
