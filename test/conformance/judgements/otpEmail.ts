import { type Judgements, refuses, same, setup } from './judgement.ts';

const noAdding = refuses(
  'The interface removes the factor and has no request that adds it; an import gives it.',
  405,
  12,
  /^Method Not Allowed$/,
);
const notServed = refuses('This request of ZITADEL is no part of the interface.', 404, 5, /^Not Found$/);

/** One person's factor from first to last, and others’. */
export const otpEmail: Judgements = {
  'otp-email: add': noAdding,
  'otp-email: add again': noAdding,
  'otp-email: list auth methods': same,
  'otp-email: delete': same,
  'otp-email: delete again': same,
  'otp-email: add after delete': noAdding,
  'otp-email: delete by ORG_OWNER': same,
  'otp-email: add (2)': noAdding,
  'otp-email: delete, German': same,
  'otp-email: add on unverified e-mail': noAdding,
  'otp-email: add on unknown user': noAdding,
  'otp-email: delete for machine user': same,
  'otp-email: delete for deleted user: create': notServed,
  'otp-email: delete for imported free-text id': same,
  'otp-email: add for imported free-text id': noAdding,
  'otp-email: delete for imported free-text id (2)': same,
  'otp-email: otp on user to be deleted': noAdding,
  'otp-email: delete user': notServed,
  'otp-email: delete otp of removed user': setup('No request of the interface removes a user.'),
};
