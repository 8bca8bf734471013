import type { Endpoint } from '../endpoint.ts';

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
