import { describe, expect, it } from 'vitest';
import { invalidRequest } from '../../../shared/errors/errors.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { completeContent, errorResponse, fixedContent, jsonResponse } from '../../../shared/http/responses.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';

const logged = capturedLog();

describe('a complete response', () => {
  it('has a body for code that reads it, with the headers', async () => {
    const response = jsonResponse({ name: 'Ada' });
    response.headers.set('x-request-id', 'r');
    const { headers } = response.clone();
    expect(headers.get('x-request-id')).toBe('r');
    expect(await new Response(response.body, response).json()).toEqual({ name: 'Ada' });
    expect(response.bodyUsed).toBe(true);
  });

  it('gives the server the same bytes for each response with fixed content', async () => {
    const bytes = Buffer.from('page');
    const respond = fixedContent({}, async () => bytes);
    expect(completeContent(await respond())).toBe(bytes);
    expect(await (await respond()).text()).toBe('page');
  });
});

describe('errorResponse', () => {
  it('omits text that is invalid in a header from WWW-Authenticate', () => {
    const error = new IdentityError({ code: 'UNAUTHENTICATED', text: 'a\r\nset-cookie: b\u00e9\u6f22c' });
    expect(errorResponse(error, 'r').headers.get('www-authenticate')).toBe('a set-cookie: b c');
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

  const syntaxError = new Error('import failed', {
    cause: (() => {
      try {
        return JSON.parse('{"password":hunter2}');
      } catch (error) {
        return error;
      }
    })(),
  });
  it.each([
    ['the cause of an INTERNAL error', IdentityError.from(new RangeError('deep')), 'RangeError: deep'],
    ['the type of a SyntaxError, whose text quotes the input', syntaxError, 'Caused by: SyntaxError'],
    ['the type of a thrown value that is not an Error', 'hunter2', 'a thrown string'],
  ])('logs %s', (_name, error, text) => {
    errorResponse(error, 'r');
    expect(logged()).toContain(text);
    expect(logged()).not.toContain('hunter2');
  });
});
