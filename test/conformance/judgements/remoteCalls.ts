import { answers, type Judgements, refuses, same } from './judgement.ts';

const removalOnly =
  'The interface names the media types of gRPC for the removal alone: other services are unknown, which gRPC says with its status 12.';

const otherService = (contentType: string) => ({
  as: 'differs' as const,
  why: removalOnly,
  expected: {
    status: 200,
    headers: { 'content-type': contentType, 'grpc-status': '12', 'grpc-message': 'unknown service or method' },
    body: { kind: 'text' as const, text: '' },
  },
});

/** gRPC-Web and Connect. */
export const remoteCalls: Judgements = {
  'grpc-web ExportData (binary)': otherService('application/grpc-web+proto'),
  'grpc-web-text ExportData': otherService('application/grpc-web-text'),
  'grpc-web ExportData no auth': otherService('application/grpc-web+proto'),
  'connect JSON ExportData': same,
  'connect JSON RemoveOTPEmail (no otp)': same,
  'connect JSON RemoveOTPEmail no version header': same,
  'connect JSON RemoveOTPEmail no auth': same,
  'connect JSON RemoveOTPEmail empty user': same,
  'connect JSON RemoveOTPEmail unknown field': same,
  'connect JSON malformed': answers("Status and code are those of ZITADEL; the text is our parser's.", 400, {
    kind: 'includes',
    json: { code: 'invalid_argument', message: /JSON/ },
  }),
  'connect proto RemoveOTPEmail': same,
  'connect text/plain': refuses(
    'Status and headers are those of ZITADEL; here every error has a body.',
    415,
    3,
    /Content-Type/,
  ),
  'connect GET': refuses(
    'Status and headers are those of ZITADEL; here every error has a body.',
    405,
    12,
    /^Method Not Allowed$/,
  ),
  'grpc-web RemoveOTPEmail (no otp)': same,
};
