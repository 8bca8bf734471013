import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Response } from './send.ts';

const details = z.array(z.looseObject({ '@type': z.string() })).min(1);
const errorBody = z.strictObject({ code: z.int(), message: z.string().min(1), details: details.optional() });
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
/** Connect's error body. */
const connectError = z.strictObject({
  code: z.string(),
  message: z.string().optional(),
  details: z.array(z.looseObject({ type: z.string(), value: z.string() })).optional(),
});

/** Connect's HTTP statuses of the codes that callers can cause. */
const connectStatuses: Readonly<Record<string, readonly number[]>> = {
  invalid_argument: [400],
  deadline_exceeded: [504, 408],
  not_found: [404],
  permission_denied: [403],
  resource_exhausted: [429],
  failed_precondition: [400],
  unauthenticated: [401],
  unimplemented: [501],
};

/** gRPC's numbers of the same codes. */
const errorsDocument = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const groups = Array.from(errorsDocument.matchAll(/^\| (\d{3}) \| (\d+) \| (.*) \|$/gm));
/** Each HTTP status with each code that `docs/errors.md` has for it, and with each name of those. */
const documented = new Set(groups.map(([, status, code]) => `${status} ${code}`));
const documentedNames = new Set(
  groups.flatMap(([, status, code, items = '']) =>
    Array.from(items.matchAll(/`([A-Z_]+)`/g), ([, name]) => `${status} ${code} ${name}`),
  ),
);
/** These codes as numbers of gRPC: of callers' errors, and of timeouts and operations that only ZITADEL has. */
const grpcStatuses = new Set([
  ...['0', '4', '12'],
  ...Array.from(documented, (error) => error.split(' ')).flatMap(([status = '', code = '']) =>
    Number(status) < 500 ? [code] : [],
  ),
]);

const LEAKS = /\n\s+at |node:internal|node_modules|\.[cm]?[jt]s:\d+|file:\/\/|SQLITE_|ENOENT|\/tmp\//;

/**
 * Judges a response.
 * @returns its status: that of HTTP, and that of gRPC or the body's code
 * @throws Error that names the problem
 */
export function judge(response: Response, isHead: boolean, mayTimeOut: boolean): string {
  const { status, headers } = response;
  const body = decoded(response);
  const type = headers.get('content-type') ?? '';
  for (const [name, value] of [
    ['x-content-type-options', 'nosniff'],
    ['x-robots-tag', 'none'],
  ] as const)
    hold(headers.get(name) === value, `the header ${name} is ${headers.get(name)}`);
  hold(/^[\w.-]{1,64}$/.test(headers.get('x-request-id') ?? ''), 'no sound x-request-id');
  for (const [, value] of headers) hold(!LEAKS.test(value), `a header leaks: ${value}`);
  if (isHead) return judgeStatus(status, mayTimeOut);
  if (type.startsWith('application/grpc')) return judgeGrpc(response, type, mayTimeOut);
  if (status === 200) return judgeSuccess(type, body);
  if (status === 204) return '204';
  return judgeError(status, type, body.toString(), mayTimeOut);
}

/** Decompresses a response in the coding that a caller has requested. */
function decoded({ headers, body }: Response): Buffer {
  const coding = headers.get('content-encoding');
  if (coding === 'gzip') return gunzipSync(body);
  return coding === 'br' ? brotliDecompressSync(body) : body;
}

function judgeStatus(status: number, mayTimeOut: boolean): string {
  hold(status < 500 || status === 501 || (status === 504 && mayTimeOut), `the status ${status}`);
  return String(status);
}

function judgeSuccess(type: string, body: Buffer): string {
  if (type !== 'application/proto') {
    hold(type.startsWith('application/json') || type === 'application/connect+json', `the content type ${type}`);
    if (body.length < 1_000_000) parse(body.toString());
  }
  return '200';
}

function judgeError(status: number, type: string, text: string, mayTimeOut: boolean): string {
  hold(type === 'application/json', `an error of the content type ${type}`);
  hold(!LEAKS.test(text), 'an error that leaks');
  hold(text.length < 100_000, `an error of ${text.length} characters`);
  const value = parse(text);
  const connect = connectError.safeParse(value);
  if (connect.success) {
    const { code } = connect.data;
    hold(connectStatuses[code]?.includes(status) === true, `the status ${status} for Connect's ${code}`);
    hold(code !== 'deadline_exceeded' || mayTimeOut, 'a timeout without a requested one');
    return `${status} ${code}`;
  }
  const { success, data } = errorBody.safeParse(value);
  if (!success) throw new Error('an error body of another shape');
  hold(documented.has(`${status} ${data.code}`), `the undocumented status ${status} for the code ${data.code}`);
  for (const { '@type': type, reason, domain } of data.details ?? []) {
    if (type !== ERROR_INFO) continue;
    const error = `${status} ${data.code} ${reason}`;
    hold(documentedNames.has(error) && domain === 'identity', `the undocumented name ${domain} ${error}`);
  }
  judgeStatus(status, mayTimeOut);
  return `${status} (${data.code})`;
}

function judgeGrpc({ status, headers, body, trailers }: Response, type: string, mayTimeOut: boolean): string {
  const isWeb = type.startsWith('application/grpc-web');
  const inBody = isWeb ? webTrailers(body, type) : undefined;
  const grpcStatus = headers.get('grpc-status') ?? trailers.get('grpc-status') ?? inBody?.get('grpc-status');
  hold(status < 500 && grpcStatus !== undefined && grpcStatus !== null, `gRPC with ${status}, ${grpcStatus}`);
  hold(grpcStatuses.has(grpcStatus ?? ''), `grpc-status ${grpcStatus}`);
  hold(grpcStatus !== '4' || mayTimeOut, 'a timeout without a requested one');
  return `${status}, grpc-status ${grpcStatus}`;
}

/** Reads the last frame of a gRPC-Web response. */
function webTrailers(body: Buffer, type: string): Headers | undefined {
  let rest = type.includes('-text') ? Buffer.from(body.toString('latin1'), 'base64') : body;
  while (rest.length > 0) {
    hold(rest.length >= 5, 'half a frame');
    const end = 5 + rest.readUInt32BE(1);
    hold(rest.length >= end, 'a frame beyond its end');
    if (rest.readUInt8(0) === 0x80) {
      const lines = rest.toString('latin1', 5, end).split('\r\n').filter(Boolean);
      return new Headers(
        lines.map((line): [string, string] => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1).trim()]),
      );
    }
    rest = rest.subarray(end);
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('a body that is no JSON');
  }
}

function hold(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}
