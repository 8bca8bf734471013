import type { Expected } from '../row.ts';

/** A recording that a ZITADEL cannot repeat as it is: what its answer must hold, or why it cannot be asked for. */
type Repetition =
  | { readonly expected: Expected; readonly setup?: undefined }
  | { readonly setup: string; readonly expected?: undefined };

/** What a real ZITADEL answers where its answer depends on more than the request. */
export const againstZitadel: Readonly<Record<string, Repetition>> = {
  'export: empty body (restricted by nothing)': {
    setup: 'An export without a body holds the whole instance, which is another one on each server.',
  },
  'unknown host': { setup: 'Which hosts lead to an instance is up to the platform in front of it.' },
  'otp-email: list auth methods': {
    expected: {
      status: 200,
      body: {
        kind: 'includes',
        json: {
          details: { totalResult: '2' },
          authMethodTypes: ['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL', 'AUTHENTICATION_METHOD_TYPE_PASSWORD'],
        },
      },
    },
  },
  'otp-email: delete for deleted user: create': {
    setup: 'The answer depends on a verification code, which an imported person need not have.',
  },
};
