import { type Judgements, refuses, same } from './judgement.ts';

const unknownUser = /^Errors.NotFound \(COMMAND-4g3xq\)$/;
const freeText = 'User ids are free text, and any of them can be reached: an unknown one is 404.';
const notUtf8 = 'A path that is not percent-encoded UTF-8 names no user: 400 with the interface’s error body.';

/** Removing the factor, by IAM_OWNER. */
export const removal: Judgements = {
  'delete otp: user not found': same,
  'delete otp: user without otp e-mail': same,
  'delete otp: user id 201 runes': same,
  'delete otp: user id 200 runes': same,
  'delete otp: user id 200 multi-byte runes': refuses(freeText, 404, 5, unknownUser),
  'delete otp: empty segment': refuses('A path that is no route is not redirected to one.', 404, 5, /^Not Found$/),
  'delete otp: %20 id': same,
  'delete otp: id with encoded slash': refuses(freeText, 404, 5, unknownUser),
  'delete otp: id with %7C': same,
  'delete otp: bad percent escape': refuses(notUtf8, 400, 3, /percent-encode it as UTF-8/),
  'delete otp: invalid UTF-8 %FF': refuses(notUtf8, 400, 3, /percent-encode it as UTF-8/),
  'delete otp: NUL %00': refuses(freeText, 404, 5, unknownUser),
  'delete otp: with malformed body': same,
  'delete otp: trailing slash': same,
  'delete otp: Accept-Language de': same,
  'delete otp: v2beta path': same,
};
