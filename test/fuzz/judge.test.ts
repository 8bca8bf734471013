import { describe, expect, it } from 'vitest';
import { takeResponse } from './http/responseReader.ts';
import { judge } from './support/judge.ts';

const always = { 'x-content-type-options': 'nosniff', 'x-robots-tag': 'none', 'x-request-id': 'r' };

function response(status: number, body: string, type = 'application/json', more: Record<string, string> = {}) {
  const headers = new Headers({ ...always, 'content-type': type, ...more });
  return { status, headers, body: Buffer.from(body), trailers: new Headers() };
}

const unknownName =
  '{"code":5,"message":"x","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"X","domain":"identity"}]}';
const patient = { mayTimeOut: false };

describe('the judge of responses', () => {
  it.each([
    ['a documented error', response(404, '{"code":5,"message":"x"}'), '404 (5)'],
    ["Connect's error", response(400, '{"code":"invalid_argument"}'), '400 invalid_argument'],
    ["gRPC's error", response(200, '', 'application/grpc', { 'grpc-status': '5' }), '200, grpc-status 5'],
    ["gRPC's conflict", response(200, '', 'application/grpc', { 'grpc-status': '6' }), '200, grpc-status 6'],
    ['a success', response(200, '{}'), '200'],
  ])('accepts %s', (_name, sound, status) => {
    expect(judge(sound, patient)).toBe(status);
  });

  it.each([
    ['an internal error', response(500, '{"code":13,"message":"x"}'), /500/],
    ['a timeout that nobody asked for', response(504, '{"code":4,"message":"x"}'), /504/],
    ['a status that its code does not have', response(400, '{"code":5,"message":"x"}'), /undocumented/],
    ['an undocumented name', response(404, unknownName), /undocumented name/],
    ['HTML', response(404, '<html>', 'text/html'), /content type/],
    ['a body that is no JSON', response(404, 'Not Found'), /JSON/],
    ['an error of another shape', response(404, '{"error":"x"}'), /shape/],
    ['a stack trace', response(400, '{"code":3,"message":"at app.ts:12"}'), /leaks/],
    ["an internal error of gRPC's", response(200, '', 'application/grpc', { 'grpc-status': '13' }), /grpc-status 13/],
    ["gRPC's response without a status", response(200, '', 'application/grpc'), /undefined/],
    ['no request id', response(404, '{"code":5,"message":"x"}', undefined, { 'x-request-id': '' }), /x-request-id/],
  ])('rejects %s', (_name, unsound, problem) => {
    expect(() => judge(unsound, patient)).toThrow(problem);
  });

  it('accepts a timeout of a request that has one', () => {
    expect(judge(response(504, '{"code":4,"message":"x"}'), { mayTimeOut: true })).toBe('504 (4)');
  });
});

describe('the reader of responses', () => {
  const take = (text: string) => takeResponse(Buffer.from(text), false);

  it('takes one response after the other', () => {
    const taken = take('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 4');
    expect([taken?.response.status, taken?.response.body.toString()]).toEqual([200, '{}']);
    expect(taken?.rest.toString()).toBe('HTTP/1.1 4');
  });

  it('takes a body that ends with the connection, in response to HTTP/1.0 only', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}');
    expect(takeResponse(bytes, false, true)?.response.body.toString()).toBe('{}');
    expect(() => takeResponse(bytes, false)).toThrow('length null');
  });

  it('takes chunks and trailers', () => {
    const taken = take('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\ngrpc-status: 0\r\n\r\n');
    expect([taken?.response.body.toString(), taken?.response.trailers.get('grpc-status')]).toEqual(['{}', '0']);
  });

  it.each(['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{'])(
    'waits for the rest of %j',
    (text) => {
      expect(take(text)).toBeUndefined();
    },
  );

  it.each([
    ['bytes that are none', 'hello\r\n\r\n', /status line/],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n', /length/],
    ['two kinds of length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}', /both/],
    ['a header with a control', 'HTTP/1.1 200 OK\r\nx: a\x01\r\ncontent-length: 0\r\n\r\n', /header/],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n', /chunk/],
  ])('rejects %s', (_name, text, problem) => {
    expect(() => take(text)).toThrow(problem);
  });
});
