import { authenticate } from '../../shared/auth/authorise.ts';
import type { Route } from '../../shared/http/route.ts';
import { rpcRoutes } from '../../shared/rpc/rpcRoute.ts';
import type { Ports } from '../ports.ts';
import { generations, removeOtpEmailRequest } from './contract.ts';
import { removeOtpEmail } from './operation.ts';

/**
 * `DELETE /v2/users/{userId}/otp_email` (interface 4.1), and `UserService/RemoveOTPEmail` over gRPC, gRPC-Web and
 * Connect: 200 with `details`, 401, 403, 404.
 */
export function routes({ store, now }: Pick<Ports, 'store' | 'now'>): readonly Route[] {
  return generations.flatMap(({ endpoint, rpcPath, method }) =>
    rpcRoutes(
      {
        path: rpcPath,
        method,
        authenticate: (authorization) => authenticate(store, authorization, now()),
        call: async (caller, request) => {
          const { userId } = removeOtpEmailRequest.parse(request);
          return { details: { ...(await removeOtpEmail(store, caller, userId, now())) } };
        },
      },
      { endpoint, requestOf: (context) => ({ userId: context.req.param('userId') ?? '' }) },
    ),
  );
}
