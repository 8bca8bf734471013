import { z } from 'zod';
import { invalidRequest } from '../../../shared/errors/errors.ts';
import { commonErrors, type Operation } from '../../../shared/openapi/endpoint.ts';
import { userIdParameter } from '../../../shared/wire/userId.ts';

const MAX_DOMAIN_CHARACTERS = 200;

/** The domain of a query. Its length is counted in code points, as in JSON Schema. */
export const domainParameter = z
  .string()
  .refine((domain) => domain !== '' && [...domain].length <= MAX_DOMAIN_CHARACTERS)
  .meta({
    minLength: 1,
    maxLength: MAX_DOMAIN_CHARACTERS,
    description:
      'The domain whose passkeys are listed. Instances keep no passkeys, so the response does not depend on it.',
  });

const request = z.object({
  userId: z.string().default(''),
  domainQuery: z
    .object({
      includeWithoutDomain: z.boolean('must be true or false, once').default(false),
      domain: z.string('must be given once').default(''),
    })
    .optional(),
});

/** A request for a user's authentication methods (specification 4.5). */
export type MethodsRequest = z.output<typeof request>;

/**
 * Reads the RPC's request message, which the REST route takes from path and query.
 * @throws IdentityError INVALID_ARGUMENT for a value that has another type or is given several times
 */
export function readMethodsRequest(value: unknown): MethodsRequest {
  const { success, data, error } = request.safeParse(value);
  if (success) return data;
  throw invalidRequest(error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message })));
}

/** The types of authentication methods that an instance keeps, in the response's order. ZITADEL has more (zitadel 6.7). */
export const authenticationMethodType = z.enum([
  'AUTHENTICATION_METHOD_TYPE_TOTP',
  'AUTHENTICATION_METHOD_TYPE_OTP_EMAIL',
  'AUTHENTICATION_METHOD_TYPE_PASSWORD',
]);

const methodsResponse = z
  .strictObject({
    details: z
      .strictObject({
        totalResult: z
          .string()
          .regex(/^\d+$/)
          .exactOptional()
          .describe('The number of methods; absent if there are none.'),
        timestamp: z.iso.datetime().describe('The time at which the methods were read.'),
      })
      .meta({ id: 'ListDetails' }),
    authMethodTypes: z.array(authenticationMethodType).exactOptional().describe('Absent if there are none.'),
  })
  .meta({ id: 'ListAuthenticationMethodTypesResponse' });

/** The list of a user's authentication methods (specification 4.5). */
export type MethodsResponse = z.output<typeof methodsResponse>;

const betaOperation = (): Operation => ({
  operationId: 'listAuthenticationMethodTypesBeta',
  summary: 'List the authentication methods of a user',
  description:
    'Lists which of password, TOTP and OTP e-mail the user has. Users may list their own methods; other callers need `user.read` on the user’s organisation or on the instance. `Accept` selects JSON, gRPC or gRPC-Web.',
  deprecated: true,
  parameters: { userId: { contract: userIdParameter, example: '330000000000000201' } },
  response: { description: 'The methods. A user that does not exist has none.', contract: methodsResponse },
  errors: {
    ...commonErrors,
    400: 'The user id or the query is invalid, or the path is not percent-encoded UTF-8.',
    403: 'The caller lacks permission for this user, whether or not the user exists, or is of an inactive organisation.',
  },
});

const operation = (): Operation => ({
  ...betaOperation(),
  operationId: 'listAuthenticationMethodTypes',
  deprecated: false,
  query: {
    'domainQuery.domain': { contract: domainParameter, example: 'example.com' },
    'domainQuery.includeWithoutDomain': {
      contract: z.boolean().describe('Whether to list passkeys without a domain too; only beside a domain.'),
      example: true,
    },
  },
});

/** The list's REST endpoint (specification 4.5) and RPC path of each API generation. */
export const lists = {
  v2: {
    endpoint: { method: 'GET', path: '/v2/users/:userId/authentication_methods', operation },
    rpcPath: '/zitadel.user.v2.UserService/ListAuthenticationMethodTypes',
  },
  v2beta: {
    endpoint: { method: 'GET', path: '/v2beta/users/:userId/authentication_methods', operation: betaOperation },
    rpcPath: '/zitadel.user.v2beta.UserService/ListAuthenticationMethodTypes',
  },
} as const;
