import { type BadRequest, rows } from './badRequest.ts';

const text = (name: string, body: string, message: RegExp) => ({ name, body, message });
const bytes = (name: string, body: readonly number[], message: RegExp) => ({
  name,
  body: Uint8Array.from(body),
  message,
});

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const noObject = /^(?:the request body must be a JSON object|invalid request body: unexpected end of JSON input)$/;
const noJson =
  /^(?:the request body must be a JSON object$|(?:invalid request body|timeout): .*(?:unexpected|expected|not valid JSON))/i;

/** Bodies that are no JSON object: refused alike by export and import. */
export const badBodies: readonly BadRequest[] = ['/admin/v1/export', '/admin/v1/import'].flatMap((path) =>
  rows(path, [
    { name: 'no body', message: noObject },
    text('an empty body', '', noObject),
    text('white space', ' \r\n\t', noObject),
    text('malformed JSON', '{"timeout":', /[Uu]nexpected end of JSON input/),
    text('a form', 'response_output=true&timeout=30s', noJson),
    text('XML', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>', noJson),
    text('an array', '[]', noObject),
    text('a string', '"{}"', noObject),
    text('a number', '1', noObject),
    text('null', 'null', noObject),
    text('two documents', '{} {}', /after/),
    text('a comment', '{/* */}', noJson),
    text('single quotes', "{'timeout':'30s'}", noJson),
    text('a trailing comma', '{"timeout":"30s",}', noJson),
    text('NaN', '{"timeout":NaN}', noJson),
    text('an unescaped line break in a string', '{"timeout":"30\ns"}', /control character/),
    text('a wrong escape', '{"timeout":"\\x30"}', /escape/),
    text('a field twice', '{"timeout":"30s","timeout":"31s"}', /duplicate field "timeout"/),
    text('objects nested in objects twenty thousand deep', nested(20_000), /response_output|exactly one of/),
    text('a hundred thousand brackets', '['.repeat(100_000), noJson),
    bytes('a NUL byte', [0x7b, 0x00, 0x7d], noJson),
    bytes('bytes that are not UTF-8', [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d], /UTF-8/),
    bytes('UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], /UTF-8|must be a JSON object/),
    { ...text('a body that is not the gzip it says', '{}', /not valid gzip/), headers: { 'content-encoding': 'gzip' } },
    {
      ...text('a body in an unknown encoding', '{}', /^unsupported Content-Encoding: /),
      headers: { 'content-encoding': 'x' },
      status: 415,
    },
  ]),
);
