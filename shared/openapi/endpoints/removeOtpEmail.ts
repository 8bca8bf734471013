import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';

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

/** `DELETE /v2/users/{userId}/otp_email` (interface 4.1), and the path of ZITADEL's beta. */
export const removeOtpEmailEndpoints = {
  v2: {
    method: 'DELETE',
    path: '/v2/users/:userId/otp_email',
    operation: async () => (await import('../operations/removeOtpEmail.ts')).removeOtpEmailOperation,
  },
  v2beta: {
    method: 'DELETE',
    path: '/v2beta/users/:userId/otp_email',
    operation: async () => (await import('../operations/removeOtpEmail.ts')).removeOtpEmailBetaOperation,
  },
} satisfies Record<string, Endpoint>;
