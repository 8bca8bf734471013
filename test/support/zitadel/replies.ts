import { type DescMessage, fromJson, toBinary } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Release } from './behaviour.ts';
import { elements } from './contents.ts';

/** A response of the stand-in. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly content: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

function json(status: number, body: unknown): Reply {
  return { status, type: 'application/json', content: JSON.stringify(body) };
}

const ERROR_DETAIL = 'type.googleapis.com/zitadel.v1.ErrorDetail';

function fault(status: number, code: number, words: string, id: string): Reply {
  const details = [{ '@type': ERROR_DETAIL, id, message: words }];
  return json(status, { code, message: `${words} (${id})`, details });
}

/** The recorded responses of ZITADEL. */
export const replies = {
  json,
  text: (status: number, content: string): Reply => ({ status, type: 'text/plain', content }),
  unknownHost: (host: string, externalDomain: string): Reply => ({
    status: 404,
    type: 'text/plain; charset=utf-8',
    content: `unable to set instance using origin &{${host}  http} (ExternalDomain is ${externalDomain}): ID=QUERY-1kIjX Message=Instance not found. Make sure you got the domain right. Check out https://zitadel.com/docs/apis/introduction#domains\n`,
  }),
  found: (body: unknown) => json(200, body),
  notFound: json(404, { code: 5, message: 'Not Found' }),
  noHeader: json(401, { code: 16, message: 'auth header missing' }),
  badToken: fault(401, 16, 'Errors.Token.Invalid', 'AUTH-7fs1e'),
  noPermission: fault(403, 7, 'No matching permissions found', 'AUTH-5mWD2'),
  invalidQuery: fault(400, 3, 'List.Query.Invalid', 'GRPC-vR9nC'),
  noMembership: fault(404, 5, 'membership not found', 'AUTHZ-cdgFk'),
  userUnknown: fault(404, 5, 'Errors.NotFound', 'COMMAND-4g3xq'),
  otpEmailNotSet: fault(404, 5, "Multifactor OTP (OneTimePassword) doesn't exist", 'COMMAND-b312D'),
  notClosed: (code: 5 | 9, id: string) => fault(code === 5 ? 404 : 400, code, 'Errors.NotClosed', id),
  eventsNotFound: fault(500, 13, 'unable to filter events', 'SQL-KyeAx'),
  noOrganisation: fault(403, 7, "Organisation doesn't exist", 'AUTH-Bs7Ds'),
  unexportable: fault(500, 13, 'An internal error occurred', 'QUERY-h9TeF'),
  userOfTwoKinds: fault(400, 9, 'User could not be found', 'QUERY-3n77z'),
  deadline: json(500, { code: 2, message: 'context deadline exceeded' }),
  noTimeout: json(500, { code: 2, message: 'time: invalid duration ""' }),
  tooLarge: (bytes: number, max: number) =>
    json(429, { code: 8, message: `grpc: received message larger than max (${bytes} vs. ${max})` }),
  unprintablePath: json(500, {
    code: 13,
    message: 'header key "zitadel-activity-path" contains value with non-printable ASCII characters',
  }),
  movedTo: (path: string): Reply => ({ status: 301, type: 'text/html', content: `<a href="${path}">Moved</a>` }),
  invalid: (message: string) => json(400, { code: 3, message }),
} as const;

const failure = z.object({ code: z.number(), message: z.string(), details: z.array(z.unknown()).optional() });

/** Returns a response in the form of a release. */
export function inRelease(release: Release, reply: Reply): Reply {
  if (release !== '2026-07' || reply.type !== 'application/json') return reply;
  const body: unknown = JSON.parse(reply.content.toString());
  const { details, message } = failure.safeParse(body).data ?? {};
  const isWithoutId = message !== undefined && details === undefined;
  const idless = { message: `${message} ()`, details: [{ '@type': ERROR_DETAIL, message }] };
  return { ...reply, content: spaced(isWithoutId ? { ...elements(body)[0], ...idless } : body) };
}

/** Returns JSON with blanks. Blanks differ between builds. */
function spaced(body: unknown): string {
  return JSON.stringify(body, undefined, 1).replaceAll(/\n\s*/g, ' ');
}

const GRPC_WEB = 'application/grpc-web+proto';

/** Returns a successful response of gRPC-Web. */
export function grpcWebMessage(message: Uint8Array): Reply {
  const content = Buffer.concat([frame(0, message), frame(0x80, Buffer.from('grpc-status: 0\r\n'))]);
  return { status: 200, type: GRPC_WEB, content };
}

/** Converts a response to gRPC-Web, in which the status follows the message. */
export function grpcWeb(schema: DescMessage, { status, content }: Reply, release: Release): Reply {
  const body = z.json().parse(JSON.parse(content.toString()));
  if (status === 200) return grpcWebMessage(toBinary(schema, fromJson(schema, body, { ignoreUnknownFields: true })));
  const type = GRPC_WEB;
  const { code, message } = failure.parse(body);
  // Responses from before the authentication have no body.
  if (release === '2026-07' && status === 401)
    return {
      status: 200,
      type,
      content: '',
      headers: { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) },
    };
  const trailers = `grpc-status: ${code}\r\ngrpc-message: ${encodeURIComponent(message)}\r\n`;
  return { status: 200, type, content: frame(0x80, Buffer.from(trailers)) };
}

function frame(flag: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag);
  head.writeUInt32BE(bytes.byteLength, 1);
  return Buffer.concat([head, bytes]);
}
