import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { describe, expect, it } from 'vitest';
import { authHeaderMissing, invalidRequest, requestTooLarge, tokenInvalid } from '../../../shared/errors/errors.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { completeContent, completeResponse, errorResponse, jsonResponse } from '../../../shared/http/responses.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';

const logged = capturedLog();

describe('errorResponse', () => {
  it("renders the interface's error body as JSON, with its length and the common headers", async () => {
    const response = errorResponse(requestTooLarge(10), 'r-1');
    const body = await response.text();
    expect(response.status).toBe(413);
    expect(JSON.parse(body)).toEqual({
      code: 8,
      message: expect.stringContaining('exceeds 10 bytes'),
      details: [errorInfo('REQUEST_TOO_LARGE')],
    });
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'r-1',
      'x-robots-tag': 'none',
    });
  });

  it('contains the reason in WWW-Authenticate if the status is 401', () => {
    expect(errorResponse(authHeaderMissing(), 'r').headers.get('www-authenticate')).toBe('auth header missing');
    expect(errorResponse(tokenInvalid(), 'r').headers.get('www-authenticate')).toBe(
      'Errors.Token.Invalid (AUTH-7fs1e)',
    );
  });

  it('omits text that is invalid in a header from WWW-Authenticate', () => {
    const error = new IdentityError({ code: 'UNAUTHENTICATED', text: 'a\r\nset-cookie: b\u00e9\u6f22c' });
    expect(errorResponse(error, 'r').headers.get('www-authenticate')).toBe('a set-cookie: b c');
  });

  it('contains the error for gRPC clients in a status that they can decode', () => {
    const { headers } = errorResponse(requestTooLarge(10, 'x'.repeat(200)), 'r', 'application/grpc');
    const { code, rawMessage, details } = findTrailerError(headers) ?? {};
    expect({ code, rawMessage }).toEqual({
      code: 8,
      rawMessage: `the request body exceeds 10 bytes: ${'x'.repeat(200)}`,
    });
    const value = new TextEncoder().encode('\n\x11REQUEST_TOO_LARGE\x12\x08identity');
    expect(details).toEqual([{ type: 'google.rpc.ErrorInfo', value }]);
    expect(errorResponse(authHeaderMissing(), 'r', 'application/grpc').headers.has('grpc-status-details-bin')).toBe(
      false,
    );
  });

  it('does not log errors that it shows to the caller', () => {
    errorResponse(invalidRequest([{ field: 'timeout', description: 'hunter2' }]), 'r');
    expect(logged()).toBe('');
  });

  it('shows an internal error as INTERNAL without its message, and logs it once', async () => {
    const response = errorResponse(new TypeError('secret place'), 'r-2');
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      code: 13,
      message: 'An internal error occurred',
      details: [errorInfo('INTERNAL_ERROR')],
    });
    const [line, ...more] = logged().trim().split('\n');
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? '')).toEqual({
      severity: 'ERROR',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      message: 'request failed',
      stack_trace: expect.stringMatching(/^TypeError: secret place\n {4}at /),
      'logging.googleapis.com/labels': { execution_id: 'r-2' },
    });
  });

  it('logs the cause of an INTERNAL error', () => {
    errorResponse(IdentityError.from(new RangeError('deep')), 'r');
    expect(logged()).toContain('RangeError: deep');
  });

  it('never logs the text of a SyntaxError, which quotes the input', () => {
    let fault: unknown;
    try {
      JSON.parse('{"password":hunter2}');
    } catch (error) {
      fault = error;
    }
    errorResponse(new Error('import failed', { cause: fault }), 'r');
    expect(logged()).toContain('Caused by: SyntaxError');
    expect(logged()).not.toContain('hunter2');
  });

  it('contains only the type of a thrown value that is not an Error', () => {
    errorResponse('hunter2', 'r');
    expect(logged()).toContain('a thrown string');
    expect(logged()).not.toContain('hunter2');
  });
});

it('the text of a complete response is known, and the response can still be read', async () => {
  const response = jsonResponse({ name: 'Zoë' });
  expect(Buffer.from(completeContent(response) ?? []).toString()).toBe('{"name":"Zoë"}');
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ name: 'Zoë' });
});

it('a response keeps its status and bytes', () => {
  const bytes = Buffer.from([0, 255]);
  const response = completeResponse(bytes, { status: 404 });
  expect(response.status).toBe(404);
  expect(completeContent(response)).toBe(bytes);
});

it('the text of a streamed response is unknown', () => {
  expect(completeContent(new Response('streamed'))).toBeUndefined();
});
