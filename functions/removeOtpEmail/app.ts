import { authenticate as authenticateToken, type Caller, type OnIdentified } from '../../shared/auth/authorise.ts';
import { defined } from '../../shared/defined.ts';
import { storeUnavailable } from '../../shared/errors/storeErrors.ts';
import type { Route } from '../../shared/http/app.ts';
import { rpcRoutes } from '../../shared/rpc/rpcRoute.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Ports } from '../ports.ts';
import { lists, readDomainQuery, readMethodsRequest, removals, removeOtpEmailRequest } from './contract.ts';
import { listAuthenticationMethodTypes, removeOtpEmail } from './operation.ts';

const serviceV2 = () => import('@zitadel/proto/zitadel/user/v2/user_service_pb.js');
const serviceV2Beta = () => import('@zitadel/proto/zitadel/user/v2beta/user_service_pb.js');

const methods = {
  v2: async () => (await serviceV2()).UserService.method,
  v2beta: async () => (await serviceV2Beta()).UserService.method,
};

type RoutePorts = Pick<Ports, 'store' | 'now' | 'audit' | 'authenticate'>;

/**
 * The time after which a call retries no database operation. The last attempt ends up to 5 s later, well before the
 * platform ends the call after 30 s.
 */
const RETRY_MS = 20_000;

/** A call after authentication. When the call's deadline has passed, the operations of `store` fail. */
interface Call {
  readonly store: Store;
  readonly caller: Caller;
}

async function beginCall(
  { store, now, authenticate = authenticateToken }: RoutePorts,
  authorization: string | undefined,
  onIdentified?: OnIdentified,
): Promise<Call> {
  const called = store.forCall({
    // Start the timer of the deadline only when the store reads `signal`. SQLite never reads it, so requests to
    // SQLite need no timer.
    get signal() {
      return deadline();
    },
  });
  return { store: called, caller: await authenticate(called, authorization, 'otp-email', now(), onIdentified) };
}

function deadline(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(storeUnavailable()), RETRY_MS).unref();
  return controller.signal;
}

/**
 * Returns the routes that remove a factor, `DELETE /v2/users/{userId}/otp_email` (specification 4.1), and that list a
 * user's factors, `GET /v2/users/{userId}/authentication_methods` (specification 4.5). Both are also served over gRPC,
 * gRPC-Web and Connect.
 */
export function routes(ports: RoutePorts): readonly Route[] {
  return (['v2', 'v2beta'] as const).flatMap((generation) => [
    ...removalRoutes(generation, ports),
    ...listRoutes(generation, ports),
  ]);
}

function removalRoutes(generation: keyof typeof removals, ports: RoutePorts): readonly Route[] {
  const { endpoint, rpcPath } = removals[generation];
  return rpcRoutes(
    {
      path: rpcPath,
      method: async () => (await methods[generation]()).removeOTPEmail,
      authenticate(authorization, origin) {
        const audited = ports.audit.call('otp-email', origin);
        return audited.watch(async () => ({ ...(await beginCall(ports, authorization, audited.identify)), audited }));
      },
      call: ({ store, caller, audited }, request) => {
        const { userId } = removeOtpEmailRequest.parse(request);
        return audited.run(async () => ({
          details: { ...(await removeOtpEmail(store, caller, userId, ports.now(), audited)) },
        }));
      },
    },
    { endpoint, toRequest: (context) => ({ userId: context.req.param('userId') ?? '' }) },
  );
}

function listRoutes(generation: keyof typeof lists, ports: RoutePorts): readonly Route[] {
  const { endpoint, rpcPath } = lists[generation];
  return rpcRoutes(
    {
      path: rpcPath,
      method: async () => (await methods[generation]()).listAuthenticationMethodTypes,
      authenticate: (authorization) => beginCall(ports, authorization),
      call: ({ store, caller }, request) =>
        listAuthenticationMethodTypes(store, caller, readMethodsRequest(request), ports.now()),
    },
    {
      endpoint,
      toRequest: (context) => {
        const domainQuery = generation === 'v2' ? readDomainQuery(context.req.queries()) : undefined;
        return { userId: context.req.param('userId') ?? '', ...defined({ domainQuery }) };
      },
    },
  );
}
