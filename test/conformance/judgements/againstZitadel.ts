import type { Expected } from '../row.ts';
import { error } from '../statements/statement.ts';

/** A recording that a ZITADEL cannot repeat as it is: what its answer must hold, or why it cannot be asked for. */
type Repetition =
  | { readonly expected: Expected; readonly setup?: undefined }
  | { readonly setup: string; readonly expected?: undefined };

/** The size is that of the protobuf message, in which ids of another length take another number of bytes. */
const tooLarge: Repetition = {
  expected: error(429, 8, /^grpc: received message larger than max \(\d+ vs\. 4194304\)$/),
};

/**
 * What a real ZITADEL answers where its answer depends on more than the request. The person whose factors are listed has a
 * password here, and had none when the list was recorded.
 */
export const againstZitadel: Readonly<Record<string, Repetition>> = {
  'export: empty body (restricted by nothing)': {
    setup: 'An export without a body holds the whole instance, which is another one on each server.',
  },
  'import: body 4.3 MB': tooLarge,
  'import: body 4.3 MB no auth': tooLarge,
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
