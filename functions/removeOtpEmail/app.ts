import { z } from 'zod';
import { authenticate } from '../../shared/auth/authorise.ts';
import type { Route } from '../../shared/http/route.ts';
import { rpcRoutes } from '../../shared/rpc/rpcRoute.ts';
import type { Store } from '../../shared/store/store.ts';
import { removeOtpEmailEndpoints } from './contract.ts';
import { removeOtpEmail } from './operation.ts';

/** What the function works with. */
export interface RemoveOtpEmailPorts {
  readonly store: Store;
  readonly now: () => Date;
}

const serviceV2 = () => import('@zitadel/proto/zitadel/user/v2/user_service_pb.js');
const serviceV2Beta = () => import('@zitadel/proto/zitadel/user/v2beta/user_service_pb.js');

/** Released clients of ZITADEL still call the service's beta; both answer alike. */
const generations = [
  {
    endpoint: removeOtpEmailEndpoints.v2,
    path: '/zitadel.user.v2.UserService/RemoveOTPEmail',
    method: async () => (await serviceV2()).UserService.method.removeOTPEmail,
  },
  {
    endpoint: removeOtpEmailEndpoints.v2beta,
    path: '/zitadel.user.v2beta.UserService/RemoveOTPEmail',
    method: async () => (await serviceV2Beta()).UserService.method.removeOTPEmail,
  },
];

const requestMessage = z.object({ userId: z.string().default('') });

/**
 * `DELETE /v2/users/{userId}/otp_email` (interface 4.1): no body; 200 with `details`, 401, 403, 404.
 * `UserService/RemoveOTPEmail` over gRPC, gRPC-Web and Connect does the same.
 */
export function removeOtpEmailRoutes({ store, now }: RemoveOtpEmailPorts): readonly Route[] {
  return generations.flatMap(({ endpoint, path, method }) =>
    rpcRoutes(
      {
        path,
        method,
        authenticate: (authorization) => authenticate(store, authorization, now()),
        call: async (caller, request) => {
          const { userId } = requestMessage.parse(request);
          return { details: { ...(await removeOtpEmail(store, caller, userId, now())) } };
        },
      },
      { endpoint, requestOf: (context) => ({ userId: context.req.param('userId') ?? '' }) },
    ),
  );
}
