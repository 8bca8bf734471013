import { z } from 'zod';
import { commonErrors, type Endpoint, type Operation } from '../../shared/openapi/endpoint.ts';

const longest = 200;

/** The id of a user as it may stand in a path (contract 6.1); runes are characters as JSON Schema counts them. */
export const userIdParameter = z
  .string()
  .refine((id) => id !== '' && [...id].length <= longest)
  .meta({
    minLength: 1,
    maxLength: longest,
    description: 'The user whose factor is to be removed; percent-encoded, `/` too.',
  });

/** What a change did (interface 2.2). */
const operationDetails = z
  .strictObject({
    sequence: z.string().regex(/^\d+$/).describe('Number of changes of the user so far.'),
    changeDate: z.iso.datetime(),
    resourceOwner: z.string().describe("The user's organisation."),
    creationDate: z.iso.datetime().describe('When the user was created.'),
  })
  .readonly()
  .meta({ id: 'Details' });

/** The answer of a removal (interface 4.1). */
export const removeOtpEmailAnswer = z.strictObject({ details: operationDetails }).meta({ id: 'RemoveOtpEmailAnswer' });

/** What a change did (interface 2.2). */
export type OperationDetails = z.output<typeof operationDetails>;

/** What `DELETE /v2/users/{userId}/otp_email` takes and answers (interface 4.1). */
export const removeOtpEmailOperation: Operation = {
  operationId: 'removeOtpEmail',
  summary: 'Remove the OTP e-mail factor of a user',
  description:
    'The caller is the user, or holds `user.write` on the organisation of the user or on the instance. Nothing is read of a body. `Accept` may ask for gRPC or gRPC-Web.',
  parameters: { userId: { contract: userIdParameter, example: '330000000000000201' } },
  response: { description: 'The factor is removed.', contract: removeOtpEmailAnswer },
  errors: {
    ...commonErrors,
    400: 'The id of the user is too long, or the path is not percent-encoded UTF-8.',
    403: 'The caller has no permission for this user, or there is no such user that they could know of.',
    404: 'There is no such user, or they have no OTP e-mail factor.',
  },
};

/** The same under the path of ZITADEL's beta. */
export const removeOtpEmailBetaOperation: Operation = {
  ...removeOtpEmailOperation,
  operationId: 'removeOtpEmailBeta',
  deprecated: true,
};

/** `DELETE /v2/users/{userId}/otp_email` (interface 4.1), and the path of ZITADEL's beta. */
export const removeOtpEmailEndpoints = {
  v2: {
    method: 'DELETE',
    path: '/v2/users/:userId/otp_email',
    operation: async () => (await import('./contract.ts')).removeOtpEmailOperation,
  },
  v2beta: {
    method: 'DELETE',
    path: '/v2beta/users/:userId/otp_email',
    operation: async () => (await import('./contract.ts')).removeOtpEmailBetaOperation,
  },
} satisfies Record<string, Endpoint>;
