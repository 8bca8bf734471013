import { codes, IdentityError } from '../errors/identityError.ts';
import { log } from '../log.ts';
import { answerHeaders } from './answerHeaders.ts';
import { encodeGrpcMessage, isGrpc } from './grpc.ts';

/**
 * Folds whatever was thrown into an error that can be shown.
 * What is not an IdentityError is logged here, once, and shown as INTERNAL without its text.
 */
export function shownError(error: unknown, requestId: string): IdentityError {
  const shown = IdentityError.from(error);
  if (shown.code === 'INTERNAL') log.requestFailed(shown.cause ?? shown, requestId);
  return shown;
}

/**
 * Renders whatever was thrown as the interface's error body (2.3).
 *
 * @param contentType the request's; one of gRPC's is answered as its protocol asks for, by a status in the headers
 */
export function errorResponse(error: unknown, requestId: string, contentType?: string): Response {
  const shown = shownError(error, requestId);
  if (contentType !== undefined && isGrpc(contentType)) return grpcResponse(shown, requestId, contentType);
  const body = Buffer.from(JSON.stringify(shown.toJson()));
  const headers = new Headers({
    ...answerHeaders(requestId),
    'content-type': 'application/json',
    'content-length': String(body.byteLength),
  });
  if (shown.httpStatus === 401) headers.set('www-authenticate', headerSafe(shown.message));
  return new Response(body, { status: shown.httpStatus, headers });
}

// What gRPC calls "trailers only". Details would need the descriptors of the RPCs, whose own errors never come here.
function grpcResponse({ code, message }: IdentityError, requestId: string, contentType: string): Response {
  return new Response(null, {
    headers: {
      ...answerHeaders(requestId),
      'content-type': contentType,
      'grpc-status': String(codes[code].number),
      'grpc-message': encodeGrpcMessage(message),
    },
  });
}

function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}
