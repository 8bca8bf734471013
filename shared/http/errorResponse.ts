import { IdentityError } from '../errors/identityError.ts';
import { log } from '../log.ts';
import { answerHeaders } from './answerHeaders.ts';

/**
 * Renders whatever was thrown as the interface's error body (2.3).
 * What is not an IdentityError is logged here, once, and shown as INTERNAL without its text.
 */
export function errorResponse(error: unknown, requestId: string): Response {
  const shown = IdentityError.from(error);
  if (shown.code === 'INTERNAL') log.requestFailed(shown.cause ?? shown, requestId);
  const body = Buffer.from(JSON.stringify(shown.toJson()));
  const headers = new Headers({
    ...answerHeaders(requestId),
    'content-type': 'application/json',
    'content-length': String(body.byteLength),
  });
  if (shown.httpStatus === 401) headers.set('www-authenticate', headerSafe(shown.message));
  return new Response(body, { status: shown.httpStatus, headers });
}

function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}
