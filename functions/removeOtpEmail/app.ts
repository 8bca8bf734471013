import { authenticate } from '../../shared/auth/authorise.ts';
import type { Route } from '../../shared/http/app.ts';
import { rpcRoutes } from '../../shared/rpc/rpcRoute.ts';
import type { Ports } from '../ports.ts';
import { lists, readMethodsRequest } from './authenticationMethods/contract.ts';
import { readDomainQuery } from './authenticationMethods/domainQuery.ts';
import { listAuthenticationMethodTypes } from './authenticationMethods/operation.ts';
import { removals, removeOtpEmailRequest } from './contract.ts';
import { removeOtpEmail } from './operation.ts';

const serviceV2 = () => import('@zitadel/proto/zitadel/user/v2/user_service_pb.js');
const serviceV2Beta = () => import('@zitadel/proto/zitadel/user/v2beta/user_service_pb.js');

const methods = {
  v2: async () => (await serviceV2()).UserService.method,
  v2beta: async () => (await serviceV2Beta()).UserService.method,
};

type RoutePorts = Pick<Ports, 'store' | 'now'>;

/**
 * Returns the routes of the removal, `DELETE /v2/users/{userId}/otp_email` (specification 4.1), and of the list that shows
 * its effect, `GET /v2/users/{userId}/authentication_methods` (specification 4.5). Both are served over gRPC, gRPC-Web and
 * Connect too.
 */
export function routes(ports: RoutePorts): readonly Route[] {
  return (['v2', 'v2beta'] as const).flatMap((generation) => [
    ...removalRoutes(generation, ports),
    ...listRoutes(generation, ports),
  ]);
}

function removalRoutes(generation: keyof typeof removals, { store, now }: RoutePorts): readonly Route[] {
  const { endpoint, rpcPath } = removals[generation];
  return rpcRoutes(
    {
      path: rpcPath,
      method: async () => (await methods[generation]()).removeOTPEmail,
      authenticate: (authorization) => authenticate(store, authorization, now()),
      call: async (caller, request) => {
        const { userId } = removeOtpEmailRequest.parse(request);
        return { details: { ...(await removeOtpEmail(store, caller, userId, now())) } };
      },
    },
    { endpoint, toRequest: (context) => ({ userId: context.req.param('userId') ?? '' }) },
  );
}

function listRoutes(generation: keyof typeof lists, { store, now }: RoutePorts): readonly Route[] {
  const { endpoint, rpcPath } = lists[generation];
  return rpcRoutes(
    {
      path: rpcPath,
      method: async () => (await methods[generation]()).listAuthenticationMethodTypes,
      authenticate: (authorization) => authenticate(store, authorization, now()),
      call: (caller, request) => listAuthenticationMethodTypes(store, caller, readMethodsRequest(request), now()),
    },
    {
      endpoint,
      toRequest: (context) => {
        const domainQuery = generation === 'v2' ? readDomainQuery(context.req.queries()) : undefined;
        return { userId: context.req.param('userId') ?? '', ...(domainQuery === undefined ? {} : { domainQuery }) };
      },
    },
  );
}
