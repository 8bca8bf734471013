import {
  END_HEADERS,
  END_STREAM,
  type frameTypes,
  http2Frame,
  literal,
  PADDED,
  PRIORITY,
  preface,
} from '../../support/http/http2Frames.ts';
import { type HttpRequest, OWNER } from './httpRequest.ts';

/** Headers, or trailers, of a stream of HTTP/2: as a frame, and as many continuations as there are cuts. */
interface HeadersFrame {
  readonly type: 'headers';
  readonly stream: number;
  readonly fields: HttpRequest['headers'];
  readonly isLast: boolean;
  /** Where the fields are cut, as shares of their length. */
  readonly cuts: readonly number[];
  readonly padding: number;
  /** The stream that it depends on, and its weight. */
  readonly priority?: readonly [stream: number, weight: number];
  /** Sent before the continuations, where nothing may be. */
  readonly between?: Frame;
}

interface PlainFrame {
  readonly type: Exclude<keyof typeof frameTypes, 'headers'>;
  readonly stream: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** One frame that a client sends; bytes are no frame, or one of an unknown kind. */
export type Frame = HeadersFrame | PlainFrame | { readonly type: 'bytes'; readonly bytes: Buffer };

/** Encodes what a client sends on a connection of HTTP/2, from its first byte. */
export function conversationBytes(frames: readonly Frame[], token: string): Buffer {
  return Buffer.concat([preface, ...frames.map((frame) => frameBytes(frame, token))]);
}

function frameBytes(frame: Frame, token: string): Buffer {
  if (frame.type === 'bytes') return frame.bytes;
  return frame.type === 'headers' ? headersBytes(frame, token) : http2Frame(frame.type, frame);
}

function headersBytes({ stream, fields, isLast, cuts, padding, priority, between }: HeadersFrame, token: string) {
  const block = Buffer.concat(fields.map(([name, value]) => literal(name, value.replaceAll(OWNER, token))));
  const ends = [...cuts.map((share) => Math.floor(share * block.length)).sort((a, b) => a - b), block.length];
  const parts = ends.map((end, index) => block.subarray(ends[index - 1] ?? 0, end));
  const [first = Buffer.of(), ...rest] = parts;
  const dependency = Buffer.alloc(5);
  if (priority !== undefined) {
    dependency.writeUInt32BE(priority[0]);
    dependency.writeUInt8(priority[1], 4);
  }
  const payload = Buffer.concat([
    ...(padding > 0 ? [Buffer.of(padding)] : []),
    ...(priority === undefined ? [] : [dependency]),
    ...[first, Buffer.alloc(padding)],
  ]);
  const flags = (isLast ? END_STREAM : 0) | (padding > 0 ? PADDED : 0) | (priority === undefined ? 0 : PRIORITY);
  return Buffer.concat([
    http2Frame('headers', { stream, flags: flags | (rest.length === 0 ? END_HEADERS : 0), payload }),
    ...(between === undefined ? [] : [frameBytes(between, token)]),
    ...rest.map((part, index) => {
      return http2Frame('continuation', { stream, flags: index === rest.length - 1 ? END_HEADERS : 0, payload: part });
    }),
  ]);
}
