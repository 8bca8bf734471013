import { Violation } from '../support/violation.ts';

/** No response may take longer: no generated request waits for a slow client. */
export const RESPONSE_MS = 20_000;

/** One response as it came off the wire. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly trailers: Headers;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Takes the first response off bytes that may have more: strictly by RFC 9112, without the leniency of clients.
 * @param isHead whether it responds to HEAD, and so has no body
 * @param isLast whether the bytes are all until the connection's end, which ends the body of a response to HTTP/1.0
 * @returns undefined if it is not complete
 * @throws Violation if it is no response
 */
export function takeResponse(
  bytes: Buffer,
  isHead: boolean,
  isLast = false,
): { response: WireResponse; rest: Buffer } | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, digits] = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/.exec(statusLine) ?? [];
  if (digits === undefined) throw new Violation(`no status line: ${JSON.stringify(statusLine)}`);
  const status = Number(digits);
  const headers = readFields(lines);
  const start = end + HEAD_END.length;
  if (status < 200) return takeResponse(bytes.subarray(start), isHead, isLast);
  const body = isHead || status === 204 || status === 304 ? emptyBody(start) : takeBody(bytes, start, headers, isLast);
  if (body === undefined) return undefined;
  return { response: { status, headers, body: body.bytes, trailers: body.trailers }, rest: bytes.subarray(body.end) };
}

function readFields(lines: readonly string[]): Headers {
  return new Headers(
    lines.map((line): [string, string] => {
      const [, name, value] = /^([!#$%&'*+.^`|~\w-]+): ?([\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Violation(`no header: ${JSON.stringify(line)}`);
      return [name, value];
    }),
  );
}

interface TakenBody {
  readonly bytes: Buffer;
  readonly trailers: Headers;
  readonly end: number;
}

function emptyBody(end: number): TakenBody {
  return { bytes: Buffer.of(), trailers: new Headers(), end };
}

function takeBody(bytes: Buffer, start: number, headers: Headers, isLast: boolean): TakenBody | undefined {
  const length = headers.get('content-length');
  if (headers.get('transfer-encoding') === 'chunked') {
    if (length !== null) throw new Violation('a response has both a length and chunks');
    return takeChunks(bytes, start);
  }
  if (length === null && isLast && headers.get('connection') === 'close')
    return { ...emptyBody(bytes.length), bytes: bytes.subarray(start) };
  if (length === null || !/^\d+$/.test(length)) throw new Violation(`a response has the length ${length}`);
  const end = start + Number(length);
  return bytes.length < end ? undefined : { ...emptyBody(end), bytes: bytes.subarray(start, end) };
}

function takeChunks(bytes: Buffer, start: number): TakenBody | undefined {
  const parts: Buffer[] = [];
  for (let position = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) return undefined;
    const digits = bytes.toString('latin1', position, lineEnd);
    if (!/^[\da-f]+$/i.test(digits)) throw new Violation(`no chunk: ${JSON.stringify(digits)}`);
    const size = Number.parseInt(digits, 16);
    if (size === 0) return takeTrailers(bytes, lineEnd, parts);
    position = lineEnd + 2 + size + 2;
    if (bytes.length < position) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, position - 2));
  }
}

function takeTrailers(bytes: Buffer, lineEnd: number, parts: readonly Buffer[]): TakenBody | undefined {
  const end = bytes.indexOf(HEAD_END, lineEnd);
  if (end === -1) return undefined;
  const lines = bytes.toString('latin1', lineEnd + 2, Math.max(end, lineEnd + 2)).split('\r\n');
  return {
    bytes: Buffer.concat(parts),
    trailers: readFields(lines.filter((line) => line !== '')),
    end: end + HEAD_END.length,
  };
}
