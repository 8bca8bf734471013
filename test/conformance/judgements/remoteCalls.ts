import { type Judgements, refuses, same } from './judgement.ts';

const notServed = refuses(
  'The three operations are served over JSON/HTTP; gRPC-Web and Connect are not served yet.',
  404,
  5,
  /^Not Found$/,
);

/** gRPC-Web and Connect. */
export const remoteCalls: Judgements = {
  'grpc-web ExportData (binary)': notServed,
  'grpc-web-text ExportData': notServed,
  'grpc-web ExportData no auth': notServed,
  'connect JSON ExportData': same,
  'connect JSON RemoveOTPEmail (no otp)': notServed,
  'connect JSON RemoveOTPEmail no version header': notServed,
  'connect JSON RemoveOTPEmail no auth': notServed,
  'connect JSON RemoveOTPEmail empty user': notServed,
  'connect JSON RemoveOTPEmail unknown field': notServed,
  'connect JSON malformed': notServed,
  'connect proto RemoveOTPEmail': notServed,
  'connect text/plain': notServed,
  'connect GET': notServed,
  'grpc-web RemoveOTPEmail (no otp)': notServed,
};
