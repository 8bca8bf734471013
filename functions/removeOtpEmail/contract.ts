import { z } from 'zod';
import { commonErrors, type Endpoint, type Operation } from '../../shared/openapi/endpoint.ts';
import { userIdParameter } from '../../shared/wire/userId.ts';
import { lists } from './authenticationMethods/contract.ts';

/** The RPC's request message. The REST route reads its field from the path. */
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

/** The response of a removal (specification 4.1). */
export const removeOtpEmailResponse = z
  .strictObject({ details: operationDetails })
  .meta({ id: 'RemoveOtpEmailResponse' });

/** The details of a change (specification 2.2). */
export type OperationDetails = z.output<typeof operationDetails>;

const operation = (): Operation => ({
  operationId: 'removeOtpEmail',
  summary: 'Remove the OTP e-mail factor of a user',
  description:
    'Users may remove their own factor; other callers need `user.write` on the user’s organisation or on the instance. A request body is ignored. `Accept` selects JSON, gRPC or gRPC-Web.',
  parameters: { userId: { contract: userIdParameter, example: '330000000000000201' } },
  response: { description: 'The factor is removed.', contract: removeOtpEmailResponse },
  errors: {
    ...commonErrors,
    400: 'The user id is too long, or the path is not percent-encoded UTF-8.',
    403: 'The caller lacks permission for this user, whether or not the user exists, or is of an inactive organisation.',
    404: 'The user does not exist, or has no OTP e-mail factor.',
  },
});

const betaOperation = (): Operation => ({ ...operation(), operationId: 'removeOtpEmailBeta', deprecated: true });

/**
 * The removal's REST endpoint (specification 4.1) and RPC path of each API generation. Released ZITADEL clients still
 * call the beta.
 */
export const removals = {
  v2: {
    endpoint: { method: 'DELETE', path: '/v2/users/:userId/otp_email', operation },
    rpcPath: '/zitadel.user.v2.UserService/RemoveOTPEmail',
  },
  v2beta: {
    endpoint: { method: 'DELETE', path: '/v2beta/users/:userId/otp_email', operation: betaOperation },
    rpcPath: '/zitadel.user.v2beta.UserService/RemoveOTPEmail',
  },
} as const;

/** The function's endpoints. */
export const endpoints: readonly Endpoint[] = [removals.v2, lists.v2, removals.v2beta, lists.v2beta].map(
  ({ endpoint }) => endpoint,
);
