import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { z } from 'zod';
import { defined } from '../../shared/defined.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { commonErrors, type Endpoint, type OperationDescription } from '../../shared/openapi/endpoint.ts';

const MAX_USER_ID_CHARACTERS = 200;

/** A user id in the path (specification 4.1). Its length is counted in code points, as in JSON Schema. */
export const userIdParameter = z
  .string()
  .refine((id) => id !== '' && [...id].length <= MAX_USER_ID_CHARACTERS)
  .meta({
    minLength: 1,
    maxLength: MAX_USER_ID_CHARACTERS,
    description: "The user's id, percent-encoded including `/`.",
  });

/** The request message of the RPC. In the REST route, the user id is in the path instead. */
export const removeOtpEmailRequest = z.object({ userId: z.string().default('') });

const operationDetails = z
  .strictObject({
    sequence: z.string().regex(/^\d+$/).describe("The number of the user's changes so far."),
    changeDate: z.iso.datetime(),
    resourceOwner: z.string().describe("The user's organisation."),
    creationDate: z.iso.datetime().describe('The time of the user’s creation.'),
  })
  .readonly()
  .meta({ id: 'Details' });

export const removeOtpEmailResponse = z
  .strictObject({ details: operationDetails })
  .meta({ id: 'RemoveOtpEmailResponse' });

export type OperationDetails = z.output<typeof operationDetails>;

const removal = (): OperationDescription => ({
  operationId: 'removeOtpEmail',
  tag: 'Users',
  summary: 'Remove the OTP e-mail factor of a user',
  description:
    'Users may remove their own factor; other callers need `user.write` on the user’s organisation or on the instance. A request body is ignored. `Accept` selects JSON, gRPC or gRPC-Web.',
  parameters: { userId: { contract: userIdParameter, example: '330000000000000201' } },
  response: { description: 'The factor is removed.', contract: removeOtpEmailResponse },
  errors: {
    ...commonErrors,
    400: 'The user id is too long, or the path is not percent-encoded UTF-8.',
    403: 'The caller lacks permission for this user, or the user does not exist, or the caller belongs to an inactive organisation.',
    404: 'The user does not exist, or has no OTP e-mail factor.',
  },
});

const betaRemoval = (): OperationDescription => ({ ...removal(), operationId: 'removeOtpEmailBeta', deprecated: true });

/** The routes of both API versions, because released ZITADEL clients still call `v2beta`. */
export const removals = {
  v2: {
    endpoint: { method: 'DELETE', path: '/v2/users/:userId/otp_email', operation: removal },
    rpcPath: '/zitadel.user.v2.UserService/RemoveOTPEmail',
  },
  v2beta: {
    endpoint: { method: 'DELETE', path: '/v2beta/users/:userId/otp_email', operation: betaRemoval },
    rpcPath: '/zitadel.user.v2beta.UserService/RemoveOTPEmail',
  },
} as const;

const MAX_DOMAIN_CHARACTERS = 200;

/** The limit on the length counts code points, as in JSON Schema. */
export const domainParameter = z
  .string()
  .refine((domain) => domain !== '' && [...domain].length <= MAX_DOMAIN_CHARACTERS)
  .meta({
    minLength: 1,
    maxLength: MAX_DOMAIN_CHARACTERS,
    description:
      'The domain for which to list passkeys. This parameter has no effect, because instances store no passkeys.',
  });

const methodsRequest = z.object({
  userId: z.string().default(''),
  domainQuery: z
    .object({
      includeWithoutDomain: z.boolean('must be a single true or false').default(false),
      domain: z.string('must not be repeated').default(''),
    })
    .optional(),
});

export type MethodsRequest = z.output<typeof methodsRequest>;

/**
 * Reads the request message of the RPC. The REST route builds the same message from path and query.
 * @throws IdentityError INVALID_ARGUMENT if a value has the wrong type or occurs several times
 */
export function readMethodsRequest(value: unknown): MethodsRequest {
  const { success, data, error } = methodsRequest.safeParse(value);
  if (success) return data;
  throw invalidRequest(error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message })));
}

/** The query parameters of ZITADEL's message `DomainQuery`. ZITADEL's gateway accepts both spellings. */
const parameters = {
  includeWithoutDomain: ['includeWithoutDomain', 'include_without_domain'],
  domain: ['domain'],
} as const;

const prefixes = ['domainQuery', 'domain_query'];

/** ZITADEL's gateway accepts these texts as booleans. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/**
 * Reads ZITADEL's message `DomainQuery` from the query parameters. A text that is not a boolean stays a text, and a
 * repeated parameter becomes a list, so that the schema rejects both.
 * @returns undefined if the query has no parameter of the message
 */
export function readDomainQuery(query: Readonly<Record<string, string[]>>): JsonObject | undefined {
  const include = readParameter(query, parameters.includeWithoutDomain);
  const domain = readParameter(query, parameters.domain);
  if (include === undefined && domain === undefined) return undefined;
  return {
    ...(include === undefined ? {} : { includeWithoutDomain: toBoolean(include) }),
    ...defined({ domain }),
  };
}

function readParameter(
  query: Readonly<Record<string, string[]>>,
  names: readonly string[],
): string | string[] | undefined {
  const values = prefixes.flatMap((prefix) => names.flatMap((name) => query[`${prefix}.${name}`] ?? []));
  return values.length > 1 ? values : values[0];
}

function toBoolean(value: string | string[]): JsonValue {
  return typeof value === 'string' ? (booleans.get(value) ?? value) : value;
}

/**
 * The types of authentication methods that this service lists, in the order of the response. ZITADEL has further types
 * (see zitadel 6.7).
 */
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
          .describe('The number of methods; absent if the user has none.'),
        timestamp: z.iso.datetime().describe('The time at which the methods were read.'),
      })
      .meta({ id: 'ListDetails' }),
    authMethodTypes: z.array(authenticationMethodType).exactOptional().describe('Absent if the user has no methods.'),
  })
  .meta({ id: 'ListAuthenticationMethodTypesResponse' });

export type MethodsResponse = z.output<typeof methodsResponse>;

const betaList = (): OperationDescription => ({
  operationId: 'listAuthenticationMethodTypesBeta',
  tag: 'Users',
  summary: 'List the authentication methods of a user',
  description:
    'Lists which of password, TOTP and OTP e-mail the user has. Users may list their own methods; other callers need `user.read` on the user’s organisation or on the instance. `Accept` selects JSON, gRPC or gRPC-Web.',
  deprecated: true,
  parameters: { userId: { contract: userIdParameter, example: '330000000000000201' } },
  response: { description: 'The methods. A user that does not exist has none.', contract: methodsResponse },
  errors: {
    ...commonErrors,
    400: 'The user id or the query is invalid, or the path is not percent-encoded UTF-8.',
    403: 'The caller lacks permission for this user, or the user does not exist, or the caller belongs to an inactive organisation.',
  },
});

const list = (): OperationDescription => ({
  ...betaList(),
  operationId: 'listAuthenticationMethodTypes',
  deprecated: false,
  query: {
    'domainQuery.domain': domainParameter.optional(),
    'domainQuery.includeWithoutDomain': z
      .boolean()
      .optional()
      .describe(
        'Whether to list also passkeys without a domain. Valid only together with a domain. This parameter has no effect, because instances store no passkeys.',
      ),
  },
});

export const lists = {
  v2: {
    endpoint: { method: 'GET', path: '/v2/users/:userId/authentication_methods', operation: list },
    rpcPath: '/zitadel.user.v2.UserService/ListAuthenticationMethodTypes',
  },
  v2beta: {
    endpoint: { method: 'GET', path: '/v2beta/users/:userId/authentication_methods', operation: betaList },
    rpcPath: '/zitadel.user.v2beta.UserService/ListAuthenticationMethodTypes',
  },
} as const;

export const endpoints: readonly Endpoint[] = [removals.v2, lists.v2, removals.v2beta, lists.v2beta].map(
  ({ endpoint }) => endpoint,
);
